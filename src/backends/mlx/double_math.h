// Functions whose kernels in MLX are single precision whatever the type of their operand. In float64 they are composed
// of ops that MLX computes in double; in other types they are MLX's own.
#pragma once
#include <mlx/array.h>

namespace tbd::mlx {

using ::mlx::core::array;

array exact_exp(const array& x);
array exact_erf(const array& x);
array exact_sigmoid(const array& x);
array exact_softmax(const array& x);                  // over the last axis
array exact_log_sum(const array& x, bool keep_axis);  // log sum exp over the last axis
array softplus(const array& x);                       // log(1 + exp(x))

}  // namespace tbd::mlx
