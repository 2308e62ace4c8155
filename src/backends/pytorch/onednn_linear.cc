#include "backends/pytorch/onednn_linear.h"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"

namespace tbd::pytorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

bool by_onednn = false;

using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, std::string_view,
                             c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);

// x (rows, in), weight (out, in), of any strides.
at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias = {}) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<Signature>();
  return op.call(x, weight, bias, "none", c10::List<std::optional<at::Scalar>>(), std::nullopt);
}

struct OneDnnLinear : torch::autograd::Function<OneDnnLinear> {
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const std::optional<Variable>& bias) {
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value();
    return product(x, weight, bias);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& g = gradients[0];
    variable_list out(3);
    if (context->needs_input_grad(0)) out[0] = product(g, saved[1].t());
    if (context->needs_input_grad(1)) out[1] = product(g.t(), saved[0].t());
    if (context->saved_data["bias"].toBool()) out[2] = g.sum(0);
    return out;
  }
};

}  // namespace

void linear_by_onednn(bool on) {
  if (on && !c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""}))
    fail(ErrorKind::unsupported, "this torch has no mkldnn::_linear_pointwise");
  by_onednn = on;
}

bool is_linear_by_onednn() { return by_onednn; }

at::Tensor onednn_linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  std::vector<int64_t> extents = x.sizes().vec();
  const at::Tensor flat = OneDnnLinear::apply(x.reshape({-1, extents.back()}), weight, bias);
  extents.back() = weight.size(0);
  return flat.view(extents);
}

}  // namespace tbd::pytorch
