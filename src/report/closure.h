// How well the report's numbers close: time, memory and FLOPs split into parts that must add up to what was measured
// apart from them, and what the profilers cost (docs/methodology.md, Closure).
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "report/cells.h"

namespace tbd {

struct ClosureRow {
  std::string what;           // "time: parts of the window against its length"
  std::string brief;          // for the banner: "time"
  std::string worst, median;  // as people read them; "not measured" where no cell has it
  size_t cells = 0;           // that have it
  std::string limit;          // what is allowed: "0 ns"
  bool open = false;          // the worst exceeds it
};
std::vector<ClosureRow> closure_rows(std::span<const ReportCell> cells);
Table closure_table(std::span<const ClosureRow> rows);
// HTML: one line that opens, with what was not measured said once.
std::string closure_banner(std::span<const ClosureRow> rows);

}  // namespace tbd
