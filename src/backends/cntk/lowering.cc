#include "backends/cntk/lowering.h"

#include <algorithm>

namespace tbd::cntk {

CNTK::NDShape native_shape(const Shape& shape, bool batched) {
  CNTK::NDShape out = reversed(batched ? shape.extents().subspan(1) : shape.extents());
  if (batched && out.extents.empty()) out.extents.push_back(1);
  return out;
}

namespace {

CNTK::Variable in_shape(const CNTK::Variable& x, const CNTK::NDShape& shape) {
  return CNTK::Reshape(x, shape, CNTK::Axis(0), CNTK::Axis(static_cast<int>(x.Shape().extents.size())), L"");
}

// With a first extent of 1 dropped, as it is spread over samples.
Tensor for_samples(const Tensor& x, int64_t samples) {
  if (x.batched || x.shape.rank() == 0) return x;
  if (x.shape[0] == 1 && samples != 1) return {in_shape(*x, native_shape(x.shape, true)), x.shape, true};
  return batched(x);
}

}  // namespace

Tensor batched(const Tensor& x) {
  if (x.batched) return x;
  require(x.shape.rank() > 0, "a scalar has no samples");
  const bool flat = x.shape.rank() == 1;
  const CNTK::Variable rows = flat ? in_shape(*x, {{1, static_cast<size_t>(x.shape[0])}}) : *x;
  return {CNTK::Variable(CNTK::ToBatch(rows, L"")), x.shape, true};
}

Tensor fixed(const Tensor& x) {
  if (!x.batched) return x;
  return {in_shape(CNTK::UnpackBatch(*x, L""), native_shape(x.shape, false)), x.shape, false};
}

Tensor reshaped(const Tensor& x, const Shape& shape) {
  return {in_shape(*x, native_shape(shape, x.batched)), shape, x.batched};
}

CNTK::Axis native_axis(const Tensor& x, int64_t axis) {
  return CNTK::Axis(static_cast<int>(x.shape.rank() - 1 - axis));
}

bool Args::any_batched() const {
  return std::ranges::any_of(node_.inputs, [&](ValueId id) { return values_[static_cast<size_t>(id)].batched; });
}

std::vector<Tensor> Args::alike() const {
  std::vector<Tensor> out;
  for (size_t i = 0; i < size(); ++i) out.push_back((*this)[i]);
  const auto found = std::ranges::find_if(out, [](const Tensor& x) { return x.batched; });
  if (found == out.end()) return out;
  const int64_t samples = found->shape[0];
  const bool fits = std::ranges::all_of(out, [&](const Tensor& x) {
    return x.shape.rank() == 0 || x.shape[0] == samples || (x.shape[0] == 1 && !x.batched);
  });
  for (Tensor& x : out) x = fits ? for_samples(x, samples) : cntk::fixed(x);
  return out;
}

CNTK::Constant Args::constant(const Shape& shape, const std::vector<double>& values) const {
  const Array array(type_, type_ == CNTK::DataType::kDouble ? DType::f64 : DType::f32, shape,
                    native_shape(shape, false));
  array.set(HostTensor(DType::f64, shape, std::span<const double>(values)));
  return CNTK::Constant(array.view(), L"");
}

CNTK::Variable Args::scalar(double value) const { return constant({}, {value}); }

Tensor total(const CNTK::Variable& x, const Args& in) {
  return {CNTK::Variable(CNTK::ReduceSum(x, CNTK::Axis::AllAxes(), in.name())), Shape{}, false};
}

CNTK::Variable padded(const Tensor& x, const Pads& pads, double value) {
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  return CNTK::Pad(*x, CNTK::PaddingMode::kConstant, {size(pads.left), size(pads.top), 0},
                   {size(pads.right), size(pads.bottom), 0}, value, L"");
}

CNTK::Variable sum_over(const CNTK::Variable& x, int axis) { return CNTK::ReduceSum(x, CNTK::Axis(axis), L""); }
CNTK::Variable times(const CNTK::Variable& a, const CNTK::Variable& b) { return CNTK::ElementTimes(a, b, L""); }
CNTK::Variable plus(const CNTK::Variable& a, const CNTK::Variable& b) { return CNTK::Plus(a, b, L""); }
CNTK::Variable minus(const CNTK::Variable& a, const CNTK::Variable& b) { return CNTK::Minus(a, b, L""); }
CNTK::Variable quotient(const CNTK::Variable& a, const CNTK::Variable& b) { return CNTK::ElementDivide(a, b, L""); }

}  // namespace tbd::cntk
