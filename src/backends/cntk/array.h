// Dense arrays of CNTK with the program's shapes and types. CNTK has no integers: they are kept as floats, exact up to
// 2^24 in single precision, which token ids, labels and lengths stay below.
#pragma once
#include <span>
#include <string>

#include "backends/cntk/abi.h"
#include "base/tensor.h"
#include "worker/translated.h"

namespace tbd::cntk {

// What CNTK's exceptions say, without the call stack behind it.
Error error_of(const std::exception& e);

// Runs what calls CNTK: its exceptions become Error with its own sentence.
template <class Work>
auto guarded(Work&& work) {
  return translated(work, [](const std::exception& e) { throw error_of(e); });
}

// Extents as CNTK orders them: backwards.
CNTK::NDShape reversed(std::span<const int64_t> extents);

inline std::wstring wide(const std::string& name) { return {name.begin(), name.end()}; }

CNTK::NDArrayViewPtr make_view(CNTK::DataType type, const CNTK::NDShape& shape);
CNTK::ValuePtr make_value(const CNTK::NDArrayViewPtr& view);

// Copies share the memory.
class Array {
 public:
  Array() = default;
  // All zero. `stored` is CNTK's type; the host sees `dtype`.
  Array(CNTK::DataType stored, DType dtype, const Shape& shape, const CNTK::NDShape& native);
  // A view that CNTK made.
  Array(CNTK::DataType stored, DType dtype, const Shape& shape, CNTK::NDArrayViewPtr view)
      : stored_(stored), dtype_(dtype), shape_(shape), view_(std::move(view)) {}

  explicit operator bool() const { return view_ != nullptr; }
  const CNTK::NDArrayViewPtr& view() const { return view_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  bool is_double() const { return stored_ == CNTK::DataType::kDouble; }
  size_t bytes() const {
    return static_cast<size_t>(shape_.elements()) * (is_double() ? sizeof(double) : sizeof(float));
  }
  void set(const HostTensor& value) const;  // of as many elements, in any type
  HostTensor host() const;
  // CNTK calls constants read-only, whose numbers it moves itself, as those of a norm.
  template <class Element>
  std::span<Element> as() const {
    return {const_cast<Element*>(view_->DataBuffer<Element>()), static_cast<size_t>(shape_.elements())};
  }

 private:
  CNTK::DataType stored_ = CNTK::DataType::kFloat;
  DType dtype_ = DType::f32;
  Shape shape_;
  CNTK::NDArrayViewPtr view_;
};

}  // namespace tbd::cntk
