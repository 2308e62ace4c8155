// Which rows of a family may be compared, and families of frameworks: cells alike but for framework, mode and layout.
// Frameworks are compared by rows that passed the equivalence gates; the others stand apart with the reason
// (docs/metrics.md, gate *verified*).
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
struct SideBySide {
  std::vector<const CellResult*> compared;  // in the order of the cells; ratios are to the first
  std::vector<Apart> apart;
};
// Why no other row may be set beside this one, disturbed or not: it failed, has no throughput, or its effort shows no
// more than that it runs. Empty when one may.
std::string why_unranked(const CellResult& cell);
bool is_disturbed(const CellResult& cell);  // and has a throughput all the same
// Rows of one family. `why` says why one stands apart, disturbed or not. Of the others those that were disturbed are
// compared where their launches took turns with another's: what slowed both is not in their ratio.
SideBySide side_by_side(std::span<const CellResult* const> rows, std::string (*why)(const CellResult&));

using FrameworkGroup = SideBySide;
// Groups with at least two frameworks, in the order of the cells, which must outlive them.
std::vector<FrameworkGroup> framework_groups(std::span<const CellResult> cells);

Table comparison_table(std::span<const FrameworkGroup> groups);  // of all that is compared
Table apart_table(std::span<const FrameworkGroup> groups);       // of all that is not, with the reasons

// "Modes: mxnet graph, pytorch eager, tensorflow graph. PyTorch's rows are eager: ...", of the rows compared.
std::string mode_sentence(std::span<const FrameworkGroup> groups);

}  // namespace tbd
