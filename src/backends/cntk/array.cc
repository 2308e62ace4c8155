#include "backends/cntk/array.h"

#include <algorithm>

#include "base/text.h"

namespace tbd::cntk {

Error error_of(const std::exception& e) {
  const std::string_view all = e.what();
  const std::string_view sentence = all.substr(0, std::min(all.find("\n\n"), all.find("[CALL STACK]")));
  std::string line(sentence);
  std::ranges::replace(line, '\n', ' ');
  return Error(ErrorKind::unsupported, cat("cntk: ", line));
}

CNTK::NDShape reversed(std::span<const int64_t> extents) {
  CNTK::NDShape out;
  for (size_t i = extents.size(); i-- > 0;) out.extents.push_back(static_cast<size_t>(extents[i]));
  return out;
}

CNTK::NDArrayViewPtr make_view(CNTK::DataType type, const CNTK::NDShape& shape) {
  auto view = std::make_shared<CNTK::NDArrayView>(type, CNTK::StorageFormat::kDense, shape, CNTK::DeviceDescriptor());
  view->SetValue(0.0F);
  return view;
}

CNTK::ValuePtr make_value(const CNTK::NDArrayViewPtr& view) { return std::make_shared<CNTK::Value>(view); }

Array::Array(CNTK::DataType stored, DType dtype, const Shape& shape, const CNTK::NDShape& native)
    : stored_(stored), dtype_(dtype), shape_(shape), view_(guarded([&] { return make_view(stored, native); })) {}

void Array::set(const HostTensor& value) const {
  require(value.shape().elements() == shape_.elements(), "array of ", shape_, " cannot hold ", value.shape());
  const auto copy = [&]<class Element>(DType as) {
    const HostTensor here = value.dtype() == as ? HostTensor() : converted(value, as);
    std::ranges::copy((value.dtype() == as ? value : here).as<Element>(), this->as<Element>().begin());
  };
  guarded([&] { is_double() ? copy.operator()<double>(DType::f64) : copy.operator()<float>(DType::f32); });
}

HostTensor Array::host() const {
  const HostTensor here = guarded([&] {
    return is_double() ? HostTensor(DType::f64, shape_, std::span<const double>(as<double>()))
                       : HostTensor(DType::f32, shape_, std::span<const float>(as<float>()));
  });
  return here.dtype() == dtype_ ? here : converted(here, dtype_);
}

}  // namespace tbd::cntk
