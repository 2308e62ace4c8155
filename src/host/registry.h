// The functions that `host_call` nodes name. One C++ implementation serves every back-end; no gradient passes.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "graph/ops/structure.h"

namespace tbd {

// Fills `out`, which has the declared shapes and types and starts as 0, from `in`, with the settings `numbers`. Throws
// Error(invalid) on operands it cannot take and on settings that it does not know or lacks.
using HostFunction = void (*)(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out);

// Throws Error(not_found) with the nearest names.
HostFunction find_host_function(std::string_view name);
std::vector<std::string> host_function_names();

}  // namespace tbd
