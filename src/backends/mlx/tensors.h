// Between host tensors of the project and MLX's arrays: types, shapes, layouts.
#pragma once
#include <mlx/array.h>

#include "base/tensor.h"

namespace tbd::mlx {

namespace mx = ::mlx::core;
using mx::array;

mx::Dtype type_of(DType dtype);  // throws Error(unsupported) on a type that MLX lacks
mx::Shape extents_of(const Shape& shape);
// Statistics, exponentials and states of low types are kept in fp32.
constexpr DType inner_type(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

// How a tensor lies: in its logical order; or, of rank 4, with axis 1 last: images (N, H, W, C) and the weights of
// convolutions (out, kh, kw, in), as MLX's convolutions want both.
enum class Layout { row, channels_last };
array relaid(const array& x, Layout from, Layout to);
Shape physical_shape(const Shape& logical, Layout layout);
int64_t physical_axis(int64_t axis, Layout layout);

// A copy with the element type `dtype`.
array to_array(const HostTensor& host, DType dtype, Layout layout = Layout::row);
array zeros(DType dtype, const Shape& physical);
array number(double value, DType dtype);
// A copy in row-major logical order; waits for the value.
HostTensor to_host(const array& x, Layout layout = Layout::row);

}  // namespace tbd::mlx
