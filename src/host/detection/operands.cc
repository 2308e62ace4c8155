#include "host/detection/operands.h"

#include <cstring>

#include "base/error.h"

namespace tbd::detection {

Reals::Reals(const HostTensor& tensor) {
  if (tensor.dtype() == DType::f32) {
    f32_ = tensor.as<float>();
  } else if (tensor.dtype() == DType::f64) {
    f64_ = tensor.as<double>();
  } else {
    widened_ = as_doubles(tensor);
    f64_ = widened_;
  }
}

Box Reals::box(int64_t row) const {
  const Reals& at = *this;
  return {at[4 * row], at[4 * row + 1], at[4 * row + 2], at[4 * row + 3]};
}

void store(std::span<const double> values, HostTensor& out) {
  const HostTensor rounded = converted(HostTensor(DType::f64, out.shape(), values), out.dtype());
  if (!values.empty()) std::memcpy(out.bytes().data(), rounded.bytes().data(), out.bytes().size());
}

void require_float(const HostTensor& tensor, const Shape& shape, std::string_view name) {
  require(is_float(tensor.dtype()) && tensor.shape() == shape, name, ": expected a float type and ", shape, ", got ",
          tensor.dtype(), " and ", tensor.shape());
}

void require_i32(const HostTensor& tensor, const Shape& shape, std::string_view name) {
  require(tensor.dtype() == DType::i32 && tensor.shape() == shape, name, ": expected i32 and ", shape, ", got ",
          tensor.dtype(), " and ", tensor.shape());
}

std::vector<Extent> image_sizes(const HostTensor& tensor) {
  const std::span<const int32_t> numbers = tensor.as<int32_t>();
  std::vector<Extent> sizes;
  for (size_t i = 0; i < numbers.size(); i += 2) {
    require(numbers[i] >= 1 && numbers[i + 1] >= 1, "image ", i / 2, ": a size of ", numbers[i], " x ", numbers[i + 1]);
    sizes.push_back({numbers[i], numbers[i + 1]});
  }
  return sizes;
}

}  // namespace tbd::detection
