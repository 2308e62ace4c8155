#include "backends/cntk/abi_check.h"

#include "backends/cntk/abi_ops.h"
#include "backends/cntk/array.h"
#include "base/text.h"

namespace tbd::cntk {
namespace {

constexpr size_t kSamples = 3;

CNTK::NDArrayViewPtr view_of(const std::vector<double>& values, const CNTK::NDShape& shape) {
  const CNTK::NDArrayViewPtr view = make_view(CNTK::DataType::kDouble, shape);
  for (size_t i = 0; i < values.size(); ++i) view->WritableDataBuffer<double>()[i] = values[i];
  return view;
}

// The sum over samples x = 1, 2, 3 of (w x + b)^2 at w = 2, b = 1, and its gradients.
std::vector<double> loss_and_gradients() {
  const CNTK::Parameter w(view_of({2}, {{1}}), L"w", L""), b(view_of({1}, {{1}}), L"b", L"");
  const CNTK::Variable x =
      CNTK::InputVariable({{1}}, false, CNTK::DataType::kDouble, false, L"x", {CNTK::Axis::DefaultBatchAxis()});
  const CNTK::Variable y = CNTK::Plus(CNTK::ElementTimes(w, x, L""), b, L"");
  const CNTK::FunctionPtr function = CNTK::ReduceSum(CNTK::Square(y, L""), CNTK::Axis::AllAxes(), L"");
  const CNTK::Variable root(function);
  auto& composite = *reinterpret_cast<CNTK::CompositeFunction*>(function.get());
  CNTK::Values outputs = {{root, nullptr}}, gradients = {{w, nullptr}, {b, nullptr}};
  const auto state = composite.Forward({{x, make_value(view_of({1, 2, 3}, {{1, kSamples}}))}}, outputs, {}, {root}, {});
  std::vector<double> out = {*outputs.at(root)->Data()->DataBuffer<double>()};
  composite.Backward(state, {{root, make_value(view_of({1}, root.Shape()))}}, gradients);
  for (const CNTK::Variable& variable : {CNTK::Variable(w), CNTK::Variable(b)})
    out.push_back(*gradients.at(variable)->Data()->DataBuffer<double>());
  return out;
}

}  // namespace

void require_known_library() {
  const std::vector<double> expected = {9 + 25 + 49, 2 * (3 + 10 + 21), 2 * (3 + 5 + 7)};
  std::string found;
  try {
    if (loss_and_gradients() == expected) return;
    found = "its gradients are wrong";
  } catch (const std::exception& e) {
    found = error_of(e).what();
  }
  fail(ErrorKind::unsupported, "this libCntk is not ", kVersion, ": ", found);
}

}  // namespace tbd::cntk
