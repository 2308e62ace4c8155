// The cells of a report, analysed once, with short names that tell them apart.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"
#include "analysis/run_view.h"

namespace tbd {

struct ReportCell {
  const Record* record = nullptr;
  RunView run;
  CellResult result;
  std::string label;  // "fp32 resident": the fields in which the report's cells differ; unique
};
// The records must outlive the cells. Sorted by workload, then hash: the order of arguments does not matter.
std::vector<ReportCell> report_cells(std::span<const Record> records);

}  // namespace tbd
