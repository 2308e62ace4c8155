// Why one framework takes longer than another for the same step: the difference of their clean step times, split node
// by node. The parts add up to it, to the nanosecond.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"
#include "analysis/run_view.h"
#include "analysis/table.h"

namespace tbd {

// Something that both steps consist of, per step.
struct GapPart {
  enum class Kind { node, idle, residual };
  Kind kind = Kind::node;
  std::string name;                      // of the node, of the idle cause, or "residual"
  std::string direction;                 // of a node
  std::string slow_kernel, fast_kernel;  // of a node: the longest on that side; empty where that side has none
  int64_t slow_ns = 0, fast_ns = 0;
  int64_t difference() const { return slow_ns - fast_ns; }
};

// The residual of a side is its clean step less its traced one: what tracing changes, and parts of a nanosecond.
struct FrameworkGap {
  const Record* slow = nullptr;
  const Record* fast = nullptr;
  int64_t slow_ns = 0, fast_ns = 0;  // mean clean step
  std::vector<GapPart> parts;        // nodes by difference, largest first, then idle causes, then the residual
  int64_t gap() const { return slow_ns - fast_ns; }
  const GapPart& residual() const { return parts.back(); }
};

// A cell that is left out, and why; with the command that mends it.
struct GapMissing {
  const Record* record = nullptr;
  std::string reason;  // "has no traced launch: tbd run ... --passes clean,trace"
};

struct FrameworkGaps {
  std::vector<FrameworkGap> gaps;
  std::vector<GapMissing> missing;  // of cells that have a rival of another framework
};

// What is asked of a record before its trace is read.
struct GapCell {
  const Record* record = nullptr;
  int64_t step_ns = 0;  // mean of the stable clean steps
  std::string fault;    // why it is not compared; empty when it is
};
GapCell gap_cell(const RunView& run, const CellResult& result);

// Pairs of records that agree in network, batch, precision, input mode, threads, device and machine and differ in the
// framework, both verified. Of each framework the record with the shortest step; the fastest framework against each
// other one. The records must outlive the result.
FrameworkGaps framework_gaps(std::span<const GapCell> cells);

// "tensorflow takes 1.31 s a step, pytorch 1.02 s: 290 ms more. layer3.0.conv2 backward adds 80 ms (...); ...": the
// first three nodes, their kernels, the rest, the residual.
std::string gap_paragraph(const FrameworkGap& gap);
// Every part, or the `most` nodes that differ most, the others in one row.
Table gap_table(const FrameworkGap& gap, size_t most = SIZE_MAX);
Table gap_missing_table(std::span<const GapMissing> missing);
// The same parts, the nodes beyond the `most` that differ most put together.
std::vector<GapPart> shortened(const FrameworkGap& gap, size_t most);
// "resnet50, batch 32, fp32: tensorflow and pytorch".
std::string gap_title(const FrameworkGap& gap);

}  // namespace tbd
