#include "backends/pytorch/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <cmath>
#include <memory>

#include "backends/pytorch/lamb.h"

namespace tbd::pytorch {

void clip_by_global_norm(const TensorList& gradients, double norm, const at::Tensor& total) {
  if (gradients.empty()) return;
  at::_foreach_mul_(gradients, total.add(1e-6).reciprocal().mul(norm).clamp_max(1));
}

bool unscale(const TensorList& gradients, double scale) {
  if (gradients.empty()) return true;
  const auto options = at::TensorOptions(at::kFloat).device(gradients.front().device());
  at::Tensor found = at::zeros({}, options);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, at::full({}, 1 / scale, options));
  return found.item<float>() == 0;
}

namespace {

at::Tensor scalar_beside(const TensorList& tensors) {
  return at::zeros({}, at::TensorOptions(at::kFloat).device(tensors.empty() ? at::kCPU : tensors.front().device()));
}

}  // namespace

UpdateRule::UpdateRule(const Update& update, Weights& weights, bool replayed, const Shards* shards)
    : update_(update), shards_(shards) {
  for (const ParameterGroup& from : update.groups) {
    Group group = {.parameters = {}, .weight_decay = from.weight_decay, .lr_scale = from.lr_scale, .slots = {}};
    for (const std::string& name : from.parameters)
      if (!shards || shards->owns(name)) group.parameters.push_back(weights.parameter(name));
    all_.insert(all_.end(), group.parameters.begin(), group.parameters.end());
    if (replayed && !group.parameters.empty()) group.device_lr = scalar_beside(group.parameters);
    groups_.push_back(std::move(group));
  }
}

void UpdateRule::add_slots(Weights& weights, const std::vector<std::string>& names) {
  for (size_t g = 0; g < groups_.size(); ++g)
    for (const std::string& slot : names) {
      TensorList& tensors = groups_[g].slots.emplace_back();
      for (const std::string& name : update_.groups[g].parameters)
        if (!shards_ || shards_->owns(name))
          tensors.push_back(weights.slot(name, slot));
        else
          weights.keep_elsewhere(name, slot);
    }
}

at::Tensor UpdateRule::norm_of_all(const TensorList& gradients) const {
  const at::Tensor own =
      gradients.empty() ? scalar_beside(gradients) : at::stack(at::_foreach_norm(gradients, 2)).norm(2);
  if (!shards_) return own;
  double squares = own.item<double>() * own.item<double>();
  shards_->sum(std::span(&squares, 1));
  return at::full({}, std::sqrt(squares), own.options());
}

void UpdateRule::set_scalars(const UpdateScalars& scalars, int64_t count) {
  const at::NoGradGuard no_grad;
  scalars_ = scalars;
  for (Group& group : groups_) {
    group.lr = scalars.lr * group.lr_scale;
    if (group.device_lr.defined()) group.device_lr.fill_(group.lr);
  }
  count_to(count);
}

void UpdateRule::apply(const TensorList& gradients) {
  const at::NoGradGuard no_grad;
  if (update_.clip_norm) clip_by_global_norm(gradients, *update_.clip_norm, norm_of_all(gradients));
  prepare(gradients);
  if (gradients.empty()) return;  // another rank owns all
  if (groups_.size() == 1) return update(groups_[0], gradients);
  auto next = gradients.begin();
  for (Group& group : groups_) {
    const auto end = next + static_cast<std::ptrdiff_t>(group.parameters.size());
    if (next != end) update(group, TensorList(next, end));
    next = end;
  }
}

namespace {

// One kernel call per group: b = mu b + g from b = 0, so the first step needs no case of its own.
class Sgd final : public UpdateRule {
 public:
  Sgd(const Update& update, Weights& weights, bool replayed, const Shards* shards)
      : UpdateRule(update, weights, replayed, shards) {
    if (update.optimizer.momentum != 0) add_slots(weights, {"momentum"});
  }

 private:
  void update(Group& group, const TensorList& gradients) override {
    const Optimizer& o = update_.optimizer;
    const TensorList none;
    const auto kernel = [&](const auto& lr) {
      at::_fused_sgd_(group.parameters, gradients, group.slots.empty() ? none : group.slots[0], group.weight_decay,
                      o.momentum, lr, /*dampening=*/0.0, o.nesterov, /*maximize=*/false, /*is_first_step=*/false);
    };
    if (group.device_lr.defined())
      kernel(group.device_lr);
    else
      kernel(group.lr);
  }
};

// adam and adamw: torch's kernels compute 1 - beta^t from a step tensor of each parameter, which they only read: here
// it is one for all.
class Adam final : public UpdateRule {
 public:
  Adam(const Update& update, Weights& weights, bool replayed, const Shards* shards)
      : UpdateRule(update, weights, replayed, shards) {
    add_slots(weights, {"exp_avg", "exp_avg_sq"});
    count_ = scalar_beside(parameters());
    for (Group& group : groups_) group.slots.emplace_back(group.parameters.size(), count_);
  }

 private:
  bool decoupled() const { return update_.optimizer.kind == Optimizer::Kind::adamw; }

  void count_to(int64_t count) override {
    // Uncorrected AdamW: at this count beta^t is 0 in double, and both corrections are 1.
    constexpr float kBeyondCorrection = 1e30f;
    const bool corrected = !decoupled() || update_.optimizer.bias_correction;
    count_.fill_(corrected ? static_cast<float>(count) : kBeyondCorrection);
  }

  void update(Group& group, const TensorList& gradients) override {
    if (group.device_lr.defined())
      update_by(group, gradients, group.device_lr);
    else
      update_by(group, gradients, group.lr);
  }

  template <class Rate>
  void update_by(const Group& group, const TensorList& gradients, const Rate& lr) {
    const Optimizer& o = update_.optimizer;
    const auto kernel = [&](auto fused) {
      fused(group.parameters, gradients, group.slots[0], group.slots[1], TensorList{}, group.slots[2], lr, o.beta1,
            o.beta2, group.weight_decay, o.epsilon);
    };
    constexpr bool kAmsgrad = false, kMaximize = false;
    if (decoupled())
      kernel([](auto&&... a) { at::_fused_adamw_(a..., kAmsgrad, kMaximize); });
    else
      kernel([](auto&&... a) { at::_fused_adam_(a..., kAmsgrad, kMaximize); });
  }

  at::Tensor count_;
};

class Lamb final : public UpdateRule {
 public:
  Lamb(const Update& update, Weights& weights, const Shards* shards)
      : UpdateRule(update, weights, /*replayed=*/false, shards) {
    add_slots(weights, {"exp_avg", "exp_avg_sq"});
  }

 private:
  void prepare(const TensorList& gradients) override { lamb_normalise(gradients, norm_of_all(gradients)); }
  void count_to(int64_t count) override { count_ = count; }
  void update(Group& group, const TensorList& gradients) override {
    const Optimizer& o = update_.optimizer;
    lamb_update({group.parameters, gradients, group.slots[0], group.slots[1]},
                {group.lr, o.beta1, o.beta2, o.epsilon, group.weight_decay, scalars_.correction1, scalars_.correction2,
                 count_});
  }

  int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<UpdateRule> make_update_rule(const Update& update, Weights& weights, bool replayed,
                                             const Shards* shards) {
  using Kind = Optimizer::Kind;
  switch (update.optimizer.kind) {
    case Kind::sgd:
      return std::make_unique<Sgd>(update, weights, replayed, shards);
    case Kind::adam:
    case Kind::adamw:
      return std::make_unique<Adam>(update, weights, replayed, shards);
    case Kind::lamb:
      return std::make_unique<Lamb>(update, weights, shards);
  }
  fail(ErrorKind::internal, "optimizer without a lowering");
}

std::string optimizer_path(Optimizer::Kind kind) {
  using Kind = Optimizer::Kind;
  switch (kind) {
    case Kind::sgd:
      return "_fused_sgd_";
    case Kind::adam:
      return "_fused_adam_";
    case Kind::adamw:
      return "_fused_adamw_";
    case Kind::lamb:
      return "composed of _foreach_ ops";
  }
  return "";
}

Average::Average(double decay, const std::vector<std::string>& names, Weights& weights, const Shards* shards)
    : decay_(decay) {
  for (const std::string& name : names) {
    if (shards && shards->owners.contains(name) && !shards->owns(name)) {
      weights.keep_elsewhere(name, kAverageSlot);
      continue;
    }
    weights_.push_back(weights.weight(name));
    averages_.push_back(weights.average(name));
  }
}

void Average::apply() {
  const at::NoGradGuard no_grad;
  if (!averages_.empty()) at::_foreach_lerp_(averages_, weights_, 1 - decay_);
}

}  // namespace tbd::pytorch
