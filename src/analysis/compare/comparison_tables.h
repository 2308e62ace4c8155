// A comparison for people and for machines.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/compare/comparison.h"
#include "analysis/table.h"

namespace tbd {

// What a person reads first: "3 of 5 workloads are faster, ...", one sentence each.
std::vector<std::string> comparison_sentences(const RowComparison& comparison);
Table verdict_table(const RowComparison& comparison);
Table counter_table(const RowComparison& comparison);     // of counters that changed or vary; no rows: none did
Table difference_table(const RowComparison& comparison);  // what differs besides, each once; no rows: nothing
Table unpaired_table(const RowComparison& comparison);

// JUnit XML as CI servers read it: a test case a row, a failure where it has one of the outcomes, skipped where it is
// undecided and that is none of them.
std::string junit_xml(const RowComparison& comparison, std::span<const std::string> fail_on);

}  // namespace tbd
