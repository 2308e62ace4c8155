#pragma once
#include <span>

#include "base/tensor.h"
#include "graph/ops/structure.h"

namespace tbd {

// scores f32, f64 or a low type (N, C) -> indices i32 (N, k): per row the columns of the k largest scores, largest
// first; of equal scores the lower column comes first. It has no settings.
void top_rows(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out);

}  // namespace tbd
