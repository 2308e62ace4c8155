#include "backends/pytorch/phase.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "backends/pytorch/autograd.h"

namespace tbd::pytorch {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

int64_t samples(const Phase& phase, const PhaseOptions& options) {
  const auto n = options.bindings.find("N");
  return (n == options.bindings.end() ? 1 : n->second) * phase.accumulate * options.world;
}

}  // namespace

PhaseRunner::PhaseRunner(const Program& program, const Phase& phase, Weights& weights, const PhaseOptions& options)
    : phase_(phase),
      graph_(bind(program, phase, options.bindings)),
      plan_(make_plan(graph_, options.obey_liveness)),
      options_(options),
      global_batch_(samples(phase, options)),
      values_(graph_.values.size()),
      norms_(graph_.loss.size()),
      trained_names_(phase.wrt()) {
  std::vector<std::string> averaged = trained_names_;
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    const Value& value = graph_.values[id];
    if (value.kind == Value::Kind::parameter) {
      values_[id] = weights.parameter(value.name);
      if (std::ranges::find(trained_names_, value.name) == trained_names_.end()) frozen_.push_back(values_[id]);
    }
    if (value.kind == Value::Kind::buffer) {
      values_[id] = weights.buffer(value.name);
      if (is_float(value.dtype)) averaged.push_back(value.name);
    }
  }
  for (const BoundNode& node : graph_.nodes) results_.insert(results_.end(), node.outputs.begin(), node.outputs.end());
  if (options.ledger) watch_.emplace(*options.ledger, options.first_node);
  const std::string scope = program.phases.size() == 1 ? "" : phase.name + "/";
  if (options.recorder) trace_.emplace(*options.recorder, options.first_node, scope);
  if (trained_names_.empty()) return;
  rule_ = make_update_rule(phase.update, weights);
  if (phase.update.ema) average_.emplace(*phase.update.ema, averaged, weights);
}

bool PhaseRunner::is_label(const std::string& input) const {
  bool used = false;
  for (const BoundNode& node : graph_.nodes)
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (graph_.value(node.inputs[i]).name != input) continue;
      if (i != 1 || !std::holds_alternative<SoftmaxCrossEntropy>(node.op)) return false;
      used = true;
    }
  return used;
}

void PhaseRunner::enter() {
  for (const at::Tensor& parameter : frozen_) parameter.set_requires_grad(false);
  if (!rule_) return;
  for (const at::Tensor& parameter : rule_->parameters()) parameter.set_requires_grad(true);
}

void PhaseRunner::set_inputs(const TensorList& inputs, const std::vector<double>& norms) {
  for (size_t id = 0; id < inputs.size(); ++id)
    if (inputs[id].defined()) values_[id] = inputs[id];
  for (const ValueId id : plan_.source_inputs) values_[index(id)] = gradient_source(values_[index(id)]);
  norms_ = norms;
}

// The watch hears of each node before it runs.
template <class Watch>
void PhaseRunner::forward_told(Watch& watch) {
  watch.begin_forward();
  run_forward(plan_, values_, [&](const auto& op, const Args& in) {
    watch.begin_node();
    return lower(op, in);
  });
  watch.end_forward();
}

void PhaseRunner::forward() {
  if (watch_) return forward_told(*watch_);
  if (PhaseTrace* trace = traced()) return forward_told(*trace);
  run_forward(plan_, values_, LowerToTorch{});
}

double PhaseRunner::run() {
  const at::AutoGradMode gradients(trains() || plan_.differentiates);
  forward();
  if (options_.capture)
    for (const auto& [name, id] : graph_.outputs) captured_["output/" + name] = values_[index(id)].detach().clone();
  for (const BoundTerm& term : graph_.loss) terms_.push_back(values_[index(term.value)]);
  for (const ValueId id : results_) values_[index(id)].reset();  // backward keeps what it needs
  if (watch_) settle_what_is_kept();
  if (trains()) backward();
  if (PhaseTrace* trace = traced()) trace->end();
  return collect_losses();
}

// Nothing but autograd holds what forward made by now, the terms and constants aside: these are the feature maps.
void PhaseRunner::settle_what_is_kept() {
  for (const at::Tensor& term : terms_) watch_->classify(term, MemoryClass::temporary);
  for (const PlannedNode& node : plan_.nodes)
    for (const at::Tensor& constant : node.constants) watch_->classify(constant, MemoryClass::auxiliary);
  watch_->ledger().settle(MemoryClass::feature_map);
}

// Each term is a root whose gradient is its norm (times the loss scale): no node multiplies the loss.
void PhaseRunner::backward() {
  if (PhaseTrace* trace = traced()) trace->begin_backward();
  TensorList roots, upstream;
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (!terms_[i].requires_grad()) continue;
    const at::Tensor& norm = values_[index(graph_.loss[i].norm)];
    roots.push_back(terms_[i]);
    upstream.push_back(phase_.update.loss_scale ? norm.mul(loss_scale_.value()) : norm);
  }
  std::optional<PhaseWatch::Backward> watched;
  if (watch_) watched.emplace(*watch_);
  if (!roots.empty()) run_backward(roots, upstream);
  if (!watch_) return;
  for (const at::Tensor& parameter : rule_->parameters()) watch_->classify(parameter.grad(), MemoryClass::weight_grad);
}

double PhaseRunner::collect_losses() {
  double loss = 0;
  for (size_t i = 0; i < graph_.loss.size(); ++i) {
    const BoundTerm& term = graph_.loss[i];
    const double value = terms_[i].item<double>() * norms_[i];
    loss += value;
    if (options_.capture) term_sums_[term.name] += value;
  }
  terms_.clear();
  for (const auto& [name, value] : term_sums_)
    captured_["term/" + name] = at::scalar_tensor(value, at::TensorOptions(at::kDouble));
  return loss;
}

void PhaseRunner::begin_capture() { term_sums_.clear(), captured_.clear(); }

TensorList PhaseRunner::gradients() const {
  TensorList out;
  for (const at::Tensor& parameter : rule_->parameters())
    out.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter.detach()));
  return out;
}

void PhaseRunner::capture_gradients(const TensorList& gradients) {
  for (size_t i = 0; i < gradients.size(); ++i) captured_["grad/" + trained_names_[i]] = gradients[i].detach().clone();
}

bool PhaseRunner::update(int64_t schedule_step, int64_t count_offset, std::optional<double> lr, bool keep_gradients) {
  const at::NoGradGuard no_grad;
  if (PhaseTrace* trace = traced()) trace->begin_update();
  if (watch_) watch_->ledger().enter(MemoryPhase::update);
  const TensorList total = gradients();
  bool finite = true;
  if (phase_.update.loss_scale) {
    finite = unscale(total, loss_scale_.value());
    loss_scale_.update(!finite);
  }
  if (options_.capture) capture_gradients(total);
  if (finite) {
    const int64_t before = applied_updates_ + count_offset;
    rule_->apply(total, update_scalars(phase_.update, schedule_step, before, global_batch_, lr), before + 1);
    if (average_) average_->apply();
    ++applied_updates_;
  }
  if (!keep_gradients)
    for (const at::Tensor& parameter : rule_->parameters()) parameter.mutable_grad().reset();
  if (PhaseTrace* trace = traced()) trace->end();
  return finite;
}

std::string PhaseRunner::first_non_finite_gradient() const {
  for (size_t i = 0; trains() && i < trained_names_.size(); ++i)
    if (const at::Tensor& gradient = rule_->parameters()[i].grad(); gradient.defined() && !is_finite(gradient))
      return "grad/" + trained_names_[i];
  return "";
}

}  // namespace tbd::pytorch
