#include "backends/tensorflow/api.h"

#include <algorithm>
#include <new>

namespace tbd::tensorflow {
namespace {

ErrorKind kind_of(TF_Code code) {
  switch (code) {
    case TF_UNIMPLEMENTED:
      return ErrorKind::unsupported;
    case TF_UNAVAILABLE:
    case TF_ABORTED:
    case TF_CANCELLED:
    case TF_DEADLINE_EXCEEDED:
      return ErrorKind::io;
    default:
      return ErrorKind::internal;
  }
}

// Row-major strides of `shape`.
std::vector<int64_t> strides(const Shape& shape) {
  std::vector<int64_t> out(static_cast<size_t>(shape.rank()));
  int64_t next = 1;
  for (size_t axis = out.size(); axis-- > 0;) {
    out[axis] = next;
    next *= shape[static_cast<int64_t>(axis)];
  }
  return out;
}

// Copies rank-4 elements of `size` bytes: physical position (a, b, c, d) <-> logical element at the given strides.
template <class Copy>
void walk(const Shape& physical, const std::vector<int64_t>& s, Copy copy) {
  int64_t at = 0;
  for (int64_t a = 0; a < physical[0]; ++a)
    for (int64_t b = 0; b < physical[1]; ++b)
      for (int64_t c = 0; c < physical[2]; ++c)
        for (int64_t d = 0; d < physical[3]; ++d) copy(at++, a * s[0] + b * s[1] + c * s[2] + d * s[3]);
}

template <class Word, class From, class To>
void permute_words(const Shape& physical, const std::vector<int64_t>& s, const From* from, To* to, bool to_physical) {
  const auto* source = reinterpret_cast<const Word*>(from);
  auto* target = reinterpret_cast<Word*>(to);
  if (to_physical)
    walk(physical, s, [&](int64_t at, int64_t logical) { target[at] = source[logical]; });
  else
    walk(physical, s, [&](int64_t at, int64_t logical) { target[logical] = source[at]; });
}

void permute(const Shape& logical, Layout layout, int64_t size, const void* from, void* to, bool to_physical) {
  const std::vector<int64_t> all = strides(logical), axes = physical_axes(layout);
  std::vector<int64_t> s;
  for (const int64_t axis : axes) s.push_back(all[static_cast<size_t>(axis)]);
  const Shape physical = physical_shape(logical, layout);
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  if (size == 8) return permute_words<uint64_t>(physical, s, source, target, to_physical);
  if (size == 4) return permute_words<uint32_t>(physical, s, source, target, to_physical);
  if (size == 2) return permute_words<uint16_t>(physical, s, source, target, to_physical);
  permute_words<uint8_t>(physical, s, source, target, to_physical);
}

TensorHandle allocate(DType dtype, const Shape& physical) {
  const auto bytes = static_cast<size_t>(physical.elements() * size_of(dtype));
  TensorHandle tensor(
      TF_AllocateTensor(data_type(dtype), physical.extents().data(), static_cast<int>(physical.rank()), bytes));
  if (!tensor || (bytes > 0 && !TF_TensorData(tensor.get()))) throw std::bad_alloc();
  return tensor;
}

}  // namespace

void Status::check() const {
  if (ok()) return;
  const TF_Code code = TF_GetCode(status_);
  if (code == TF_RESOURCE_EXHAUSTED) throw std::bad_alloc();
  const std::string text = TF_Message(status_);
  fail(kind_of(code), "tensorflow: ", text.substr(0, text.find('\n')));
}

TF_DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return TF_DOUBLE;
    case DType::f32:
      return TF_FLOAT;
    case DType::bf16:
      return TF_BFLOAT16;
    case DType::f16:
      return TF_HALF;
    case DType::i64:
      return TF_INT64;
    case DType::i32:
      return TF_INT32;
    case DType::u8:
      return TF_UINT8;
    case DType::boolean:
      return TF_BOOL;
  }
  fail(ErrorKind::internal, "no tensorflow type for ", dtype);
}

DType dtype_of(TF_DataType type) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i64, DType::i32, DType::u8})
    if (data_type(dtype) == type) return dtype;
  if (type == TF_BOOL) return DType::boolean;
  fail(ErrorKind::unsupported, "a tensorflow tensor of type number ", static_cast<int>(type));
}

std::vector<int64_t> physical_axes(Layout layout) {
  switch (layout) {
    case Layout::row:
      return {};
    case Layout::nhwc:
      return {0, 2, 3, 1};
    case Layout::hwio:
      return {2, 3, 1, 0};
  }
  return {};
}

Shape physical_shape(const Shape& logical, Layout layout) {
  if (layout == Layout::row) return logical;
  std::vector<int64_t> extents;
  for (const int64_t axis : physical_axes(layout)) extents.push_back(logical[axis]);
  return Shape(extents);
}

TensorHandle to_tensor(const HostTensor& host, DType dtype, Layout layout) {
  const HostTensor other = host.dtype() == dtype ? HostTensor() : converted(host, dtype);
  const HostTensor& source = host.dtype() == dtype ? host : other;
  TensorHandle tensor = allocate(dtype, physical_shape(host.shape(), layout));
  void* target = TF_TensorData(tensor.get());
  if (layout != Layout::row)
    permute(host.shape(), layout, size_of(dtype), source.bytes().data(), target, /*to_physical=*/true);
  else if (!source.bytes().empty())
    std::memcpy(target, source.bytes().data(), source.bytes().size());
  return tensor;
}

TensorHandle zeros(DType dtype, const Shape& physical) {
  TensorHandle tensor = allocate(dtype, physical);
  if (const size_t bytes = TF_TensorByteSize(tensor.get())) std::memset(TF_TensorData(tensor.get()), 0, bytes);
  return tensor;
}

TensorHandle scalar(double value, DType dtype) {
  return to_tensor(HostTensor(DType::f64, Shape{}, std::span<const double>(&value, 1)), dtype, Layout::row);
}

HostTensor to_host(const TF_Tensor* tensor, const Shape& logical, Layout layout) {
  HostTensor out(dtype_of(TF_TensorType(tensor)), logical);
  require(TF_TensorByteSize(tensor) == out.bytes().size(), "tensorflow gave ", TF_TensorByteSize(tensor),
          " bytes for a tensor of shape ", logical);
  if (out.bytes().empty()) return out;
  const void* source = TF_TensorData(tensor);
  if (layout == Layout::row)
    std::memcpy(out.bytes().data(), source, out.bytes().size());
  else
    permute(logical, layout, size_of(out.dtype()), source, out.bytes().data(), /*to_physical=*/false);
  return out;
}

double scalar_of(const TF_Tensor* tensor) { return as_doubles(to_host(tensor, Shape{}, Layout::row)).at(0); }

}  // namespace tbd::tensorflow
