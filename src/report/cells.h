// The cells of a report, analysed once, with short names that tell them apart.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"
#include "analysis/run_view.h"
#include "analysis/sweep/sweep.h"
#include "record/left_out.h"
#include "report/report.h"

namespace tbd {

struct ReportCell {
  const Record* record = nullptr;
  RunView run;
  CellResult result;
  std::string label;  // "fp32 resident": the fields in which the report's cells differ; those that differ in none name
                      // their folder: "batch 4 (first)"
  std::string machine;                // machine_of
  const SweepPoint* point = nullptr;  // of the sweep that the cell belongs to, whose profile and memory it has
  const Record* stands_in = nullptr;  // for a duplicate, which has no point: the record that is used in its place
  const Profile* profile() const { return point && point->profile ? &*point->profile : nullptr; }
  const MemoryReport* memory() const { return point && point->memory ? &*point->memory : nullptr; }
};
// Sorted by machine, workload, then hash: the order of arguments does not matter. Records and sweeps must outlive them.
std::vector<ReportCell> report_cells(std::span<const Record> records, std::span<const Sweep> sweeps);

// Those that figures and comparisons use: of each workload the record with the best evidence (analysis/evidence.h).
std::vector<ReportCell> drawn(std::span<const ReportCell> cells);
// The same before all others, which follow in the order of their evidence: for a pass that the best record lacks.
std::vector<ReportCell> best_first(std::span<const ReportCell> cells);

// Their results, those of each machine together.
std::vector<std::vector<CellResult>> by_machine(std::span<const ReportCell> cells);

// All that pages are made of. `machines` are the distinct ones, in the order of the cells.
struct Content {
  std::vector<Sweep> sweeps;
  std::vector<ReportCell> cells;
  std::vector<std::string> machines;
  std::vector<LeftOut> left_out;  // by time budgets, of the result sets
  std::span<const KnownNetwork> networks;
};
// The input must outlive it. Not to be copied: cells point into sweeps.
Content report_content(const ReportInput& input);

// "machine B" where there are several; empty where there is one.
std::string machine_name(std::span<const std::string> machines, const std::string& machine);

// At most `most` of the cells, in their order, that stand for all: largest batches first, models and frameworks in
// turn. All of them where they are no more.
std::vector<const ReportCell*> chosen(std::span<const ReportCell* const> cells, size_t most);
constexpr size_t kMostFigures = 12;  // of one kind, one a cell
constexpr size_t kMostBars = 24;     // in one chart
// "12 of 1,000 cells are drawn, ...": where to find the others; empty where all are.
std::string folded_note(size_t shown, size_t all, std::string_view where);

}  // namespace tbd
