// A dense row-major tensor in host memory, and named sets of them: what crosses between files, loaders and workers.
#pragma once
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/shape.h"

namespace tbd {

class HostTensor {
 public:
  HostTensor() = default;
  HostTensor(DType dtype, Shape shape)  // zero-filled
      : dtype_(dtype), shape_(std::move(shape)), bytes_(static_cast<size_t>(shape_.elements() * size_of(dtype))) {}
  template <class T>
  HostTensor(DType dtype, Shape shape, std::span<const T> values) : HostTensor(dtype, std::move(shape)) {
    require(values.size_bytes() == bytes_.size(), "tensor ", shape_, " ", dtype_, " needs ", bytes_.size(),
            " bytes, got ", values.size_bytes());
    if (!bytes_.empty()) std::memcpy(bytes_.data(), values.data(), bytes_.size());
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  // The elements as T; the caller names the type that dtype() stores (float for f32, int32_t for i32, ...).
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  DType dtype_ = DType::f32;
  Shape shape_;
  std::vector<std::byte> bytes_;
};

using TensorMap = std::map<std::string, HostTensor>;

// The elements in double, whatever float or integer type is stored (bf16 and f16 are widened).
std::vector<double> as_doubles(const HostTensor& tensor);
// `tensor` converted to `dtype`, rounding to nearest even.
HostTensor converted(const HostTensor& tensor, DType dtype);

}  // namespace tbd
