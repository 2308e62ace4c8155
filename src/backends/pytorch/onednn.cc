// torch has two ways into oneDNN for fp32: the op of compiled linear layers, which any processor takes, and the
// function behind its own products of low types, which takes operands as they lie, transposed ones included, and
// batches of them.
#include "backends/pytorch/onednn.h"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "base/error.h"

// libtorch_cpu.so has it, the wheel lacks its header. a (M, K) or (B, M, K), b alike: out = beta out + alpha a b.
// Throws on processors without AVX-512.
namespace at::native {
__attribute__((weak)) void mkldnn_matmul(const Tensor& a, const Tensor& b, const Tensor& out, float beta, float alpha);
}

namespace tbd::pytorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

bool preferred = false;

bool can_multiply() {
  static const bool can = [] {
    if (at::native::mkldnn_matmul == nullptr) return false;
    const at::NoGradGuard no_grad;
    const at::Tensor one = at::ones({1, 1}), out = at::empty({1, 1});
    try {
      at::native::mkldnn_matmul(one, one, out, /*beta=*/0, /*alpha=*/1);
    } catch (const c10::Error&) {
      return false;
    }
    return true;
  }();
  return can;
}

// An op of the dispatcher, so that traces see it. a (..., M, K), b (..., K, N), each contiguous or transposed.
at::Tensor multiplied(const at::Tensor& a, const at::Tensor& b) {
  std::vector<int64_t> extents = a.sizes().vec();
  extents.back() = b.size(-1);
  const at::Tensor out = at::empty(extents, a.options());
  at::native::mkldnn_matmul(a, b, out, /*beta=*/0, /*alpha=*/1);
  return out;
}

using PointwiseSignature = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                                      std::string_view, c10::List<std::optional<at::Scalar>>,
                                      std::optional<std::string_view>);

// x (rows, in), weight (out, in), of any strides.
at::Tensor pointwise(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias = {}) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<PointwiseSignature>();
  return op.call(x, weight, bias, "none", c10::List<std::optional<at::Scalar>>(), std::nullopt);
}

// a (M, K), b (K, N) or batches of both. Gradients that are differentiated again are torch's: oneDNN's have no graph.
at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("tbd::onednn_product", "")
                             .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  if (at::GradMode::is_enabled()) return a.matmul(b);
  if (can_multiply()) return op.call(a, b);
  return a.dim() == 2 ? pointwise(a, b.t()) : at::bmm(a, b);
}

struct OneDnnLinear : torch::autograd::Function<OneDnnLinear> {
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const std::optional<Variable>& bias) {
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value();
    return pointwise(x, weight, bias);
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor g = upstream[0].contiguous();
    variable_list out(3);
    if (context->needs_input_grad(0)) out[0] = product(g, saved[1]);
    if (context->needs_input_grad(1)) out[1] = product(g.t(), saved[0]);
    if (context->saved_data["bias"].toBool()) out[2] = g.sum(0);
    return out;
  }
};

struct OneDnnBmm : torch::autograd::Function<OneDnnBmm> {
  static Variable forward(AutogradContext* context, const Variable& a, const Variable& b) {
    context->save_for_backward({a, b});
    return product(a, b);
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor g = upstream[0].contiguous();
    variable_list out(2);
    if (context->needs_input_grad(0)) out[0] = product(g, saved[1].mT());
    if (context->needs_input_grad(1)) out[1] = product(saved[0].mT(), g);
    return out;
  }
};

}  // namespace

TORCH_LIBRARY(tbd, library) { library.def("onednn_product(Tensor a, Tensor b) -> Tensor"); }
TORCH_LIBRARY_IMPL(tbd, CPU, library) { library.impl("onednn_product", multiplied); }

void prefer_onednn(bool on) {
  if (on && !c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""}))
    fail(ErrorKind::unsupported, "this torch has no mkldnn::_linear_pointwise");
  preferred = on;
}

bool prefers_onednn() { return preferred; }

bool by_onednn(const at::Tensor& x) {
  return preferred && x.scalar_type() == at::kFloat && x.is_cpu() && x.numel() > 0;
}

at::Tensor onednn_linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  std::vector<int64_t> extents = x.sizes().vec();
  const at::Tensor flat = OneDnnLinear::apply(x.reshape({-1, extents.back()}), weight, bias);
  extents.back() = weight.size(0);
  return flat.view(extents);
}

at::Tensor onednn_bmm(const at::Tensor& a, const at::Tensor& b) { return OneDnnBmm::apply(a, b); }

}  // namespace tbd::pytorch
