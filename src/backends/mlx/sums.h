// Sums of many elements.
#pragma once
#include <mlx/array.h>

namespace tbd::mlx {

using ::mlx::core::array;

// Of all elements: a scalar. In blocks, and blocks of their sums, because MLX adds one by one in the element type:
// equal terms then round alike, and a detector's loss over its anchors is 2e-4 short in fp32.
array sum_of_all(const array& x);

}  // namespace tbd::mlx
