// Frameworks side by side: cells alike but for framework, mode and layout. Only rows that passed the equivalence gates
// are compared; the others stand apart with the reason (docs/metrics.md, gate *verified*).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"

namespace tbd {

struct Apart {
  const CellResult* cell = nullptr;
  std::string reason;
};
struct FrameworkGroup {
  std::vector<const CellResult*> compared;  // in the order of the cells; ratios are to the first
  std::vector<Apart> apart;
};
// Groups with at least two frameworks, in the order of the cells, which must outlive them.
std::vector<FrameworkGroup> framework_groups(std::span<const CellResult> cells);

Table comparison_table(std::span<const FrameworkGroup> groups);  // of all that is compared
Table apart_table(std::span<const FrameworkGroup> groups);       // of all that is not, with the reasons

// "Modes: mxnet graph, pytorch eager, tensorflow graph. PyTorch's rows are eager: ...", of the rows compared.
std::string mode_sentence(std::span<const FrameworkGroup> groups);

}  // namespace tbd
