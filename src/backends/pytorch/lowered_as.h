// Which torch op runs, for `check`.
#pragma once
#include <cstddef>
#include <string>

#include "graph/op.h"

namespace tbd::pytorch {

// What a lowering calls, and whether it is one op or composed of several.
struct LoweredAs {
  bool native = true;
  std::string detail;
};
// `operands` counts those of the node, parameters included.
LoweredAs lowered_as(const Op& op, size_t operands);

}  // namespace tbd::pytorch
