#include "backends/pytorch/lamb.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

namespace tbd::pytorch {
namespace {

using List = std::vector<at::Tensor>;

// An update has two temporaries as large as its tensors: so many elements at once, and at least one tensor.
constexpr int64_t kTogether = int64_t{1} << 22;

// u per tensor, without the decay.
List directions(const LambTensors& t, const LambScalars& s) {
  List denominators = at::_foreach_div(t.exp_avg_sq, s.correction2);
  at::_foreach_sqrt_(denominators);
  at::_foreach_add_(denominators, s.epsilon);
  List u = at::_foreach_div(t.exp_avg, s.correction1);
  at::_foreach_div_(u, denominators);
  return u;
}

void update_together(const LambTensors& t, const LambScalars& s) {
  at::_foreach_lerp_(t.exp_avg, t.gradients, 1 - s.beta1);
  at::_foreach_mul_(t.exp_avg_sq, s.beta2);
  at::_foreach_addcmul_(t.exp_avg_sq, t.gradients, t.gradients, 1 - s.beta2);
  List u = directions(t, s);
  if (s.weight_decay != 0) {
    at::_foreach_add_(u, t.parameters, s.weight_decay);
    const at::Tensor w_norm = at::stack(at::_foreach_norm(t.parameters, 2)),
                     u_norm = at::stack(at::_foreach_norm(u, 2));
    const at::Tensor both = w_norm.gt(0).logical_and(u_norm.gt(0));
    at::_foreach_mul_(u, at::where(both, w_norm.div(u_norm), 1).unbind());
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
