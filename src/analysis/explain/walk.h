// How a record's number came about: its inputs with their values, each with the place in the record that holds it, in
// the order in which a person would redo it with a pocket calculator.
#pragma once
#include <vector>

#include "analysis/cell.h"
#include "analysis/explain/fact.h"
#include "analysis/explain/topic.h"
#include "analysis/run_view.h"
#include "analysis/table.h"

namespace tbd {

// For a metric: its inputs, itself, its interval, then what judged it. For a flag: what it hangs on and whether the row
// carries it. For an outcome: what the record says and what each gate finds. For a grade: what each launch has of what
// is wanted. For a level: the record's composed nodes. For figures of a pass: their parts. Ends with outcome, grade,
// reasons and flags. A pass that the record lacks, or one that cannot be read, is a fact that says so.
std::vector<Fact> walk(const FoundTopic& found, const Record& record);

Table fact_table(const std::vector<Fact>& facts);

// Parts, in files of their own. A step's stamp is column completed_ns.
void add_phases(const RunView& run, std::vector<Fact>& facts);  // stable phases: steps, units, times, ratio
void add_metric(std::string_view id, const RunView& run, std::vector<Fact>& facts);
void add_mark(const FoundTopic& found, const RunView& run, const Judgement& judgement, std::vector<Fact>& facts);
void add_trace(std::string_view id, const Record& record, std::vector<Fact>& facts);
void add_memory(std::string_view id, const Record& record, std::vector<Fact>& facts);

}  // namespace tbd
