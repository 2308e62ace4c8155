#include "backends/mlx/optimizer.h"

#include <mlx/ops.h>

#include "backends/mlx/sums.h"

namespace tbd::mlx {
namespace {

using Kind = Optimizer::Kind;

array times(const array& x, double factor) { return mx::multiply(x, array(factor, x.dtype())); }
array plus(const array& x, double offset) { return mx::add(x, array(offset, x.dtype())); }

array square_sum(const array& x) { return sum_of_all(mx::square(x)); }

array norm_of(const Arrays& tensors) {
  array sum = square_sum(tensors.at(0));
  for (size_t i = 1; i < tensors.size(); ++i) sum = mx::add(sum, square_sum(tensors[i]));
  return mx::sqrt(sum);
}

std::vector<std::string> slot_names(const Optimizer& optimizer) {
  if (optimizer.kind != Kind::sgd) return {"exp_avg", "exp_avg_sq"};
  if (optimizer.momentum != 0) return {"momentum"};
  return {};
}

}  // namespace

UpdateRule::UpdateRule(const Update& update, Weights& weights) : update_(update) {
  const std::vector<std::string> names = slot_names(update.optimizer);
  slots_each_ = names.size();
  for (const ParameterGroup& group : update.groups)
    for (const std::string& parameter : group.parameters) {
      weights_.push_back(&weights.parameter(parameter));
      for (const std::string& name : names) slots_.push_back(&weights.slot(parameter, name));
      dtype_ = weights_.back()->dtype;
    }
}

Arrays UpdateRule::scalars(const UpdateScalars& scalars) const {
  Arrays out = {number(scalars.correction1, dtype_), number(scalars.correction2, dtype_)};
  for (const ParameterGroup& group : update_.groups) out.push_back(number(scalars.lr * group.lr_scale, dtype_));
  return out;
}

// Clip by global norm; LAMB divides by the global norm where it is above 1.
void UpdateRule::prepare(Arrays& gradients) const {
  const auto scale = [&](const array& factor) {
    for (array& gradient : gradients) gradient = mx::multiply(gradient, factor);
  };
  const array one = number(1, dtype_);
  if (update_.clip_norm)
    scale(mx::minimum(one, mx::divide(number(*update_.clip_norm, dtype_), plus(norm_of(gradients), 1e-6))));
  if (update_.optimizer.kind == Kind::lamb) scale(mx::divide(one, mx::maximum(norm_of(gradients), one)));
}

// A slot starts at zero, so momentum needs no case for the first step.
Arrays UpdateRule::sgd(const Target& t) const {
  const Optimizer& o = update_.optimizer;
  const array gradient = t.weight_decay == 0 ? t.gradient : mx::add(t.gradient, times(t.weight, t.weight_decay));
  if (o.momentum == 0) return {mx::subtract(t.weight, mx::multiply(t.lr, gradient))};
  const array momentum = mx::add(times(t.slots[0], o.momentum), gradient);
  const array direction = o.nesterov ? mx::add(gradient, times(momentum, o.momentum)) : momentum;
  return {mx::subtract(t.weight, mx::multiply(t.lr, direction)), momentum};
}

// adam, adamw and lamb: one direction, decayed in three ways.
Arrays UpdateRule::adam(const Target& t) const {
  const Optimizer& o = update_.optimizer;
  const bool decays = t.weight_decay != 0;
  array gradient = t.gradient, weight = t.weight;
  if (decays && o.kind == Kind::adam) gradient = mx::add(gradient, times(weight, t.weight_decay));
  if (decays && o.kind == Kind::adamw) weight = mx::subtract(weight, mx::multiply(t.lr, times(weight, t.weight_decay)));
  const array m = mx::add(times(t.slots[0], o.beta1), times(gradient, 1 - o.beta1));
  const array v = mx::add(times(t.slots[1], o.beta2), times(mx::square(gradient), 1 - o.beta2));
  const array root = plus(mx::sqrt(mx::divide(v, t.correction2)), o.epsilon);
  array direction = mx::divide(mx::divide(m, t.correction1), root), rate = t.lr;
  if (decays && o.kind == Kind::lamb) {
    direction = mx::add(direction, times(weight, t.weight_decay));
    const array own = norm_of({weight}), step = norm_of({direction}), zero = number(0, dtype_);
    const array both = mx::logical_and(mx::greater(own, zero), mx::greater(step, zero));
    rate = mx::multiply(rate, mx::where(both, mx::divide(own, step), number(1, dtype_)));
  }
  return {mx::subtract(weight, mx::multiply(rate, direction)), m, v};
}

Arrays UpdateRule::updated(const Target& target) const {
  return update_.optimizer.kind == Kind::sgd ? sgd(target) : adam(target);
}

UpdateState UpdateRule::apply(const UpdateState& state, Arrays gradients, std::span<const array> scalars) const {
  prepare(gradients);
  UpdateState out;
  size_t next = 0, group_number = 0;
  for (const ParameterGroup& group : update_.groups) {
    const array& lr = scalars[2 + group_number++];
    for (size_t i = 0; i < group.parameters.size(); ++i, ++next) {
      const std::span<const array> slots(state.slots.data() + next * slots_each_, slots_each_);
      const Arrays changed =
          updated({state.weights[next], gradients[next], slots, group.weight_decay, lr, scalars[0], scalars[1]});
      out.weights.push_back(changed[0]);
      out.slots.insert(out.slots.end(), changed.begin() + 1, changed.end());
    }
  }
  return out;
}

array all_finite(const Arrays& arrays) {
  array out = array(true);
  for (const array& each : arrays) out = mx::logical_and(out, mx::all(mx::isfinite(each)));
  return out;
}

std::string optimizer_path() { return "composed of elementwise ops"; }

}  // namespace tbd::mlx
