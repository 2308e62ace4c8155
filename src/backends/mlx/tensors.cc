#include "backends/mlx/tensors.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cstring>

namespace tbd::mlx {
namespace {

DType project_type(mx::Dtype dtype) {
  switch (dtype.val()) {
    case mx::Dtype::Val::float64:
      return DType::f64;
    case mx::Dtype::Val::float32:
      return DType::f32;
    case mx::Dtype::Val::bfloat16:
      return DType::bf16;
    case mx::Dtype::Val::float16:
      return DType::f16;
    case mx::Dtype::Val::int64:
      return DType::i64;
    case mx::Dtype::Val::int32:
      return DType::i32;
    case mx::Dtype::Val::uint8:
      return DType::u8;
    case mx::Dtype::Val::bool_:
      return DType::boolean;
    default:
      fail(ErrorKind::internal, "an array of MLX has a type that the project does not know");
  }
}

}  // namespace

mx::Dtype type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return mx::float64;
    case DType::f32:
      return mx::float32;
    case DType::bf16:
      return mx::bfloat16;
    case DType::f16:
      return mx::float16;
    case DType::i64:
      return mx::int64;
    case DType::i32:
      return mx::int32;
    case DType::u8:
      return mx::uint8;
    case DType::boolean:
      return mx::bool_;
  }
  fail(ErrorKind::unsupported, "mlx has no element type ", dtype);
}

mx::Shape extents_of(const Shape& shape) {
  mx::Shape out;
  for (const int64_t extent : shape.extents()) out.push_back(static_cast<mx::ShapeElem>(extent));
  return out;
}

array relaid(const array& x, Layout from, Layout to) {
  if (from == to) return x;
  return to == Layout::channels_last ? mx::transpose(x, {0, 2, 3, 1}) : mx::transpose(x, {0, 3, 1, 2});
}

Shape physical_shape(const Shape& logical, Layout layout) {
  if (layout == Layout::row) return logical;
  return {logical[0], logical[2], logical[3], logical[1]};
}

int64_t physical_axis(int64_t axis, Layout layout) {
  static constexpr int64_t kAxes[] = {0, 3, 1, 2};
  return layout == Layout::row ? axis : kAxes[axis];
}

array to_array(const HostTensor& host, DType dtype, Layout layout) {
  const HostTensor own = host.dtype() == dtype ? HostTensor() : converted(host, dtype);
  const std::span<const std::byte> bytes = host.dtype() == dtype ? host.bytes() : own.bytes();
  mx::allocator::Data data = mx::allocator::malloc(bytes.size());
  if (!bytes.empty()) std::memcpy(data.buffer().raw_ptr(), bytes.data(), bytes.size());
  const array row(std::move(data), extents_of(host.shape()), type_of(dtype));
  if (layout == Layout::row) return row;
  array out = mx::contiguous(relaid(row, Layout::row, layout));
  mx::eval(out);
  return out;
}

array zeros(DType dtype, const Shape& physical) {
  array out = mx::contiguous(mx::zeros(extents_of(physical), type_of(dtype)));
  mx::eval(out);
  return out;
}

array number(double value, DType dtype) { return array(value, type_of(dtype)); }

HostTensor to_host(const array& x, Layout layout) {
  array row = mx::contiguous(relaid(x, layout, Layout::row));
  mx::eval(row);
  std::vector<int64_t> extents(row.shape().begin(), row.shape().end());
  HostTensor out(project_type(row.dtype()), Shape(std::move(extents)));
  if (!out.bytes().empty()) std::memcpy(out.bytes().data(), row.data<char>(), out.bytes().size());
  return out;
}

}  // namespace tbd::mlx
