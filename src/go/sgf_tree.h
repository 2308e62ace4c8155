// SGF as text: the nodes of a tree's main line, with their properties as they are written.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tbd::go {

struct SgfProperty {
  std::string name;                 // capital letters alone: FF[3] allows small ones between
  std::vector<std::string> values;  // at least one; escapes undone
};
using SgfNode = std::vector<SgfProperty>;
using SgfLine = std::vector<SgfNode>;  // at least one node, the root first

// The main line of each tree; text before the first "(;" is passed over. Throws Error(invalid) with "before move 1:
// ..." or "after move 12: ...", moves being the properties B and W of the main line so far.
std::vector<SgfLine> read_sgf_lines(std::string_view text);

}  // namespace tbd::go
