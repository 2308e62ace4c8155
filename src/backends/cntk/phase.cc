#include "backends/cntk/phase.h"

namespace tbd::cntk {

PhaseRunner::PhaseRunner(const BoundPhase& bound, SessionContext& context)
    : bound_(bound), graph_(bound.graph), context_(context) {
  const Update& update = bound.phase.update;
  if (update.loss_scale) fail(ErrorKind::unsupported, "cntk's CPU kernels do not run in f16");
  network_.emplace(bound, context.type, context.weights);
  if (bound.trained.empty()) return;
  rule_.emplace(update, context.weights);
  if (!bound.averaged.empty()) average_.emplace(*update.ema, bound.averaged, context.weights);
  for (const std::string& name : bound.trained) {
    const Array& weight = context.weights.parameter(name);
    sums_.emplace_back(context.type, weight.dtype(), weight.shape(), reversed(weight.shape().extents()));
  }
}

void PhaseRunner::stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) {
  const Value& of = graph_.value(input);
  Array& shared = context_.inputs[cat(name, '#', tbd::name(of.dtype), '#', micro_batch)];
  if (!shared || shared.shape() != of.shape) {
    CNTK::NDShape native = reversed(of.shape.extents());
    if (network_->has_samples(input) && of.shape.rank() == 1) native.extents.insert(native.extents.begin(), 1);
    shared = Array(context_.type, of.dtype, of.shape, native);
  }
  shared.set(value);
  staged_[micro_batch].emplace_back(input, shared);
}

std::span<const double> PhaseRunner::run(const MicroBatch& micro) {
  gradients_.clear();
  for (const auto& [input, array] : staged_[micro.staged]) network_->set(input, array);
  run_ = network_->forward();
  if (rule_) backward(micro);
  if (micro.update) update(*micro.update);
  return run_.terms;
}

// The gradients of a single micro-batch stay where CNTK made them.
void PhaseRunner::backward(const MicroBatch& micro) {
  gradients_ = network_->backward();
  const bool alone = micro.first && micro.update != nullptr;
  for (size_t i = 0; i < gradients_.size(); ++i) {
    if (alone && gradients_[i]) continue;
    if (micro.first) clear(sums_[i]);
    if (gradients_[i]) add(gradients_[i], sums_[i]);
    gradients_[i] = sums_[i];
  }
}

void PhaseRunner::update(const UpdateStep& step) {
  captured_gradients_.clear();
  if (bound_.capture)
    for (const Array& gradient : gradients_) captured_gradients_.push_back(gradient.host());
  rule_->apply(gradients_, step.scalars);
  if (average_) average_->apply();
}

std::optional<HostTensor> PhaseRunner::gradient(size_t index) {
  if (index < captured_gradients_.size()) return captured_gradients_[index];
  return std::nullopt;
}

}  // namespace tbd::cntk
