#include "backends/pytorch/lamb.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "backends/pytorch/onednn.h"

namespace tbd::pytorch {
namespace {

using List = std::vector<at::Tensor>;

// An update has two temporaries as large as its tensors: so many elements at once, and at least one tensor.
constexpr int64_t kTogether = int64_t{1} << 22;

// Updates the moments; u per tensor, without the decay.
List directions(const LambTensors& t, const LambScalars& s) {
  at::_foreach_lerp_(t.exp_avg, t.gradients, 1 - s.beta1);
  at::_foreach_mul_(t.exp_avg_sq, s.beta2);
  at::_foreach_addcmul_(t.exp_avg_sq, t.gradients, t.gradients, 1 - s.beta2);
  List denominators = at::_foreach_div(t.exp_avg_sq, s.correction2);
  at::_foreach_sqrt_(denominators);
  at::_foreach_add_(denominators, s.epsilon);
  List u = at::_foreach_div(t.exp_avg, s.correction1);
  at::_foreach_div_(u, denominators);
  return u;
}

// The same in one pass in place of eight: what torch's fused Adam takes off a parameter of 0 at the rate -1.
List fused_directions(const LambTensors& t, const LambScalars& s) {
  List u;
  for (const at::Tensor& parameter : t.parameters) u.push_back(at::zeros_like(parameter));
  const List counts(u.size(), at::full({}, static_cast<double>(s.count), at::TensorOptions(at::kFloat)));
  constexpr bool kAmsgrad = false, kMaximize = false;
  at::_fused_adam_(u, t.gradients, t.exp_avg, t.exp_avg_sq, /*max_exp_avg_sqs=*/List{}, counts, /*lr=*/-1.0, s.beta1,
                   s.beta2, /*weight_decay=*/0, s.epsilon, kAmsgrad, kMaximize);
  return u;
}

void update_together(const LambTensors& t, const LambScalars& s) {
  const bool fused = prefers_onednn() && t.parameters.front().is_cpu();
  List u = fused ? fused_directions(t, s) : directions(t, s);
  if (s.weight_decay != 0) {
    at::_foreach_add_(u, t.parameters, s.weight_decay);
    const at::Tensor w_norm = at::stack(at::_foreach_norm(t.parameters, 2)),
                     u_norm = at::stack(at::_foreach_norm(u, 2));
    const at::Tensor both = w_norm.gt(0).logical_and(u_norm.gt(0));
    const List ratios = at::where(both, w_norm.div(u_norm), 1).unbind();
    if (fused) return at::_foreach_addcmul_(t.parameters, u, ratios, -s.lr);
    at::_foreach_mul_(u, ratios);
  }
  at::_foreach_add_(t.parameters, u, -s.lr);
}

}  // namespace

void lamb_normalise(const List& gradients, const at::Tensor& total) {
  if (gradients.empty()) return;
  at::_foreach_mul_(gradients, total.clamp_min(1).reciprocal());
}

void lamb_update(const LambTensors& t, const LambScalars& s) {
  int64_t elements = 0;
  for (size_t begin = 0, end = 0; end < t.parameters.size();) {
    elements += t.parameters[end++].numel();
    if (elements < kTogether && end < t.parameters.size()) continue;
    const auto part = [&](const List& all) {
      return List(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    update_together({part(t.parameters), part(t.gradients), part(t.exp_avg), part(t.exp_avg_sq)}, s);
    begin = end;
    elements = 0;
  }
}

}  // namespace tbd::pytorch
