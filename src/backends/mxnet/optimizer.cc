#include "backends/mxnet/optimizer.h"

#include "backends/mxnet/adam.h"
#include "backends/mxnet/arithmetic.h"

namespace tbd::mxnet {
namespace {

using Kind = Optimizer::Kind;

void sgd_by_mxnet(const Trained& t, const Optimizer& o, const Rates& r) {
  Attributes attributes = {{"lr", text(r.lr)}};
  if (o.momentum != 0) {
    t.first->hold(-r.lr);
    attributes.emplace_back("momentum", text(o.momentum));
  }
  // nag_mom_update takes the decay of the momentum from the weight that it has just updated.
  if (o.nesterov && o.momentum != 0)
    return call_into(t.weight, "nag_mom_update", std::vector{t.weight, with_decay(t, r.weight_decay), t.first->array()},
                     attributes);
  attributes.emplace_back("wd", text(r.weight_decay));
  if (o.momentum == 0) return call_into(t.weight, "sgd_update", std::vector{t.weight, t.gradient}, attributes);
  call_into(t.weight, "sgd_mom_update", std::vector{t.weight, t.gradient, t.first->array()}, attributes);
}

void sgd_composed(const Trained& t, const Optimizer& o, const Rates& r) {
  const Array g = with_decay(t, r.weight_decay);
  if (o.momentum == 0) return add(t.weight, -r.lr, g);
  t.first->hold(1);
  const Array& momentum = t.first->array();
  scale(momentum, o.momentum);
  add(momentum, 1, g);
  add(t.weight, -r.lr, o.nesterov ? sum(g, scaled(momentum, o.momentum)) : momentum);
}

void update(const Trained& t, const Optimizer& o, const Rates& r) {
  const bool native = has_native_update(o, t.weight.dtype());
  switch (o.kind) {
    case Kind::sgd:  // at lr 0 a momentum folded with it would be lost
      return native && r.lr != 0 ? sgd_by_mxnet(t, o, r) : sgd_composed(t, o, r);
    case Kind::adam:
    case Kind::adamw:
      return native ? adam_by_mxnet(t, o, r) : adam_composed(t, o, r);
    case Kind::lamb:
      return native ? lamb_by_mxnet(t, o, r) : lamb_composed(t, o, r);
  }
}

// The norm of all gradients together, as an array of one element: nothing waits for it.
Array global_norm(std::span<const Trained> tensors) {
  std::vector<Array> norms;
  for (const Trained& t : tensors) norms.push_back(norm(t.gradient));
  return norm(call("Concat", norms, {{"num_args", std::to_string(norms.size())}, {"dim", "0"}}));
}

}  // namespace

Array with_decay(const Trained& t, double decay) {
  return decay == 0 ? t.gradient : sum(t.gradient, scaled(t.weight, decay));
}

void clip_by_global_norm(std::span<const Trained> tensors, double limit) {
  const Array ratio = call("_rdiv_scalar", std::vector{shifted(global_norm(tensors), 1e-6)}, scalar(limit));
  const Array factor = call("_minimum_scalar", std::vector{ratio}, scalar(1));
  for (const Trained& t : tensors) scale_by(t.gradient, factor);
}

void normalise_by_global_norm(std::span<const Trained> tensors) {
  const Array divisor = call("_maximum_scalar", std::vector{global_norm(tensors)}, scalar(1));
  const Array factor = call("_rdiv_scalar", std::vector{divisor}, scalar(1));
  for (const Trained& t : tensors) scale_by(t.gradient, factor);
}

bool has_native_update(const Optimizer& o, DType dtype) {
  return dtype == DType::f32 && (o.kind == Kind::sgd || folds_moments(o));
}

std::string optimizer_path(const Optimizer& o, DType dtype) {
  if (!has_native_update(o, dtype)) return "composed of elementwise ops";
  if (o.kind == Kind::adam) return "adam_update";
  if (o.kind == Kind::adamw) return "_adamw_update";
  if (o.kind == Kind::lamb) return "lamb_update_phase1, lamb_update_phase2";
  if (o.momentum == 0) return "sgd_update";
  return o.nesterov ? "nag_mom_update" : "sgd_mom_update";
}

UpdateRule::UpdateRule(const Update& update, Weights& weights, std::span<const Array> gradients) : update_(update) {
  const Optimizer& o = update.optimizer;
  const bool sgd = o.kind == Kind::sgd;
  for (const ParameterGroup& group : update.groups)
    for (const std::string& name : group.parameters) {
      Trained t = {weights.parameter(name), gradients[tensors_.size()], group.weight_decay, group.lr_scale};
      if (sgd && o.momentum != 0) t.first = &weights.slot(name, "momentum");
      if (!sgd) {
        t.first = &weights.slot(name, "exp_avg");
        t.second = &weights.slot(name, "exp_avg_sq");
      }
      tensors_.push_back(std::move(t));
    }
}

void UpdateRule::apply(const UpdateScalars& scalars) {
  if (update_.clip_norm) clip_by_global_norm(tensors_, *update_.clip_norm);
  if (update_.optimizer.kind == Kind::lamb) normalise_by_global_norm(tensors_);
  for (const Trained& t : tensors_)
    update(t, update_.optimizer, {scalars.lr * t.lr_scale, t.weight_decay, scalars.correction1, scalars.correction2});
}

Average::Average(double decay, const std::vector<std::string>& names, Weights& weights) : decay_(decay) {
  for (const std::string& name : names) pairs_.emplace_back(&weights.weight(name), &weights.average(name));
}

void Average::apply() {
  for (const auto& [weight, average] : pairs_) {
    scale(average->array(), decay_);
    add(average->array(), (1 - decay_) / weight->factor(), weight->array());
  }
}

}  // namespace tbd::mxnet
