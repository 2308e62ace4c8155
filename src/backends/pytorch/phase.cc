#include "backends/pytorch/phase.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "backends/pytorch/autograd.h"
#include "backends/pytorch/guard.h"

namespace tbd::pytorch {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

bool read_as_label(const Graph& graph, ValueId input) {
  bool used = false;
  for (const BoundNode& node : graph.nodes)
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != input) continue;
      if (role(node.op, i, graph.operands(node).in) != Role::label) return false;
      used = true;
    }
  return used;
}

// Of ragged results the rows that are valid: what reads them does no work for the others.
void cut_rows(const HostCall& call, int64_t rows, std::vector<at::Tensor>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!call.results[i].ragged) continue;
    require(rows >= 0 && rows <= results[i].size(0), call.function, ": ", rows, " rows of ", results[i].size(0));
    results[i] = results[i].narrow(0, 0, rows);
  }
}

}  // namespace

PhaseRunner::PhaseRunner(const BoundPhase& bound, SessionContext& context)
    : bound_(bound),
      graph_(bound.graph),
      context_(context),
      plan_(make_plan(graph_, context.obey_liveness)),
      values_(graph_.values.size()),
      term_values_(graph_.loss.size()) {
  Weights& weights = context.weights;
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    const Value& value = graph_.values[id];
    is_label_.push_back(value.kind == Value::Kind::input && read_as_label(graph_, static_cast<ValueId>(id)));
    if (value.kind == Value::Kind::buffer) values_[id] = weights.buffer(value.name);
    if (value.kind != Value::Kind::parameter) continue;
    values_[id] = weights.parameter(value.name);
    if (std::ranges::find(bound.trained, value.name) == bound.trained.end()) frozen_.push_back(values_[id]);
  }
  for (const BoundNode& node : graph_.nodes) results_.insert(results_.end(), node.outputs.begin(), node.outputs.end());
  if (context.ledger) watch_.emplace(*context.ledger, bound.first_node);
  const std::string scope = bound.program.phases.size() == 1 ? "" : bound.phase.name + "/";
  if (context.recorder) trace_.emplace(*context.recorder, bound.first_node, scope);
  if (bound.trained.empty()) return;
  for (const std::string& name : bound.trained) trained_.push_back(weights.parameter(name));
  rule_ = make_update_rule(bound.phase.update, weights, static_cast<bool>(context.graphs), context.shards);
  if (!bound.averaged.empty()) average_.emplace(*bound.phase.update.ema, bound.averaged, weights, context.shards);
  if (!context.exchange) return;
  for (const at::Tensor& parameter : trained_) parameter.set_requires_grad(true);
  if (context.shards) owners_ = context.shards->owners_of(bound.trained);
  arrange([&] { exchange_ = context.exchange->of_gradients(trained_, owners_); });
}

void PhaseRunner::begin_staging(size_t micro_batches) { staged_.assign(micro_batches, TensorList(values_.size())); }

void PhaseRunner::stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) {
  const DType dtype = is_label_[index(input)] ? DType::i64 : graph_.value(input).dtype;
  at::Tensor& tensor = context_.inputs[cat(name, '#', tbd::name(dtype))];
  if (!tensor.defined()) tensor = to_device(value, dtype, context_.device, context_.layout, context_.copies);
  staged_[micro_batch][index(input)] = tensor;
}

// Turns on gradients for what this phase trains, off for what else it reads.
void PhaseRunner::begin() {
  if (context_.left) context_.left->drop_gradients();
  context_.left = nullptr;
  finite_ = true;
  skipped_ = false;
  if (context_.entered == this) return;
  context_.entered = this;
  for (const at::Tensor& parameter : frozen_) parameter.set_requires_grad(false);
  for (const at::Tensor& parameter : trained_) parameter.set_requires_grad(true);
}

void PhaseRunner::set_inputs(const TensorList& inputs) {
  for (size_t id = 0; id < inputs.size(); ++id)
    if (inputs[id].defined()) values_[id] = inputs[id];
  for (const ValueId id : plan_.source_inputs) values_[index(id)] = gradient_source(values_[index(id)]);
}

// What is left by such work and has no role yet is the exchange's; a bucket gets that of the gradients in it.
template <class Work>
void PhaseRunner::arrange(const Work& work) {
  if (watch_) watch_->ledger().settle(MemoryClass::optimizer_state);
  work();
  if (watch_) watch_->ledger().settle(MemoryClass::comm);
}

template <class Op>
auto PhaseRunner::lowered(const Op& op, const Args& in) {
  ++begun_;
  auto results = lower(op, in);
  if constexpr (std::is_same_v<Op, HostCall>) settle_rows(op, results);
  return results;
}

void PhaseRunner::settle_rows(const HostCall& call, std::vector<at::Tensor>& results) {
  if (call.rows < 0) return;
  rows_ = results[static_cast<size_t>(call.rows)].item<int64_t>();
  if (!bound_.capture) cut_rows(call, *rows_, results);
}

// The watch hears of each node before it runs.
template <class Watch>
void PhaseRunner::forward_told(Watch& watch) {
  watch.begin_forward();
  run_forward(plan_, values_, [&](const auto& op, const Args& in) {
    watch.begin_node();
    return lowered(op, in);
  });
  watch.end_forward();
}

void PhaseRunner::forward() {
  if (watch_) return forward_told(*watch_);
  if (PhaseTrace* trace = traced()) return forward_told(*trace);
  run_forward(plan_, values_, [&](const auto& op, const Args& in) { return lowered(op, in); });
}

std::span<const double> PhaseRunner::run(const MicroBatch& micro) {
  const bool updates = micro.update != nullptr;
  if (micro.first) begin();
  if (updates) rule_->set_scalars(micro.update->scalars, micro.update->number);
  exchanges_ = updates && exchange_;
  if (exchanges_) arrange([this] { exchange_->before_forward(); });
  if (context_.graphs && runs_++ >= kRunsBeforeCapture)
    run_replayed(staged_[micro.staged], updates);
  else
    run_once(staged_[micro.staged], updates);
  read_terms();
  if (updates && finite_) {  // after a loss that was not finite the next run frees them
    drop_gradients();
    context_.left = nullptr;
  }
  return term_values_;
}

void PhaseRunner::run_once(const TensorList& inputs, bool updates) {
  set_inputs(inputs);
  run_nodes();
  if (updates) located([&] { update(); }, [&] { return cat("in the update of phase '", bound_.phase.name, "'"); });
}

// The graph has the addresses of what it reads and makes; only inputs and the update's scalars change.
void PhaseRunner::run_replayed(const TensorList& inputs, bool updates) {
  copy_inputs(inputs);
  if (!step_graph_) {
    try {
      step_graph_ = context_.graphs();
      located([&] { step_graph_->capture([this, updates] { run_once(graph_inputs_, updates); }); },
              [] { return "while it is recorded"; });
    } catch (const Error& e) {
      fail(ErrorKind::unsupported, "mode cuda-graph cannot replay this step: ", e.what());
    }
  }
  step_graph_->replay();
  if (context_.left == this) drop_gradients();
  context_.left = nullptr;
}

void PhaseRunner::copy_inputs(const TensorList& inputs) {
  const at::NoGradGuard no_grad;
  if (graph_inputs_.empty()) {
    for (const at::Tensor& input : inputs) graph_inputs_.push_back(input.defined() ? input.clone() : at::Tensor());
    copied_ = inputs;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || copied_[i].is_same(inputs[i])) continue;
    graph_inputs_[i].copy_(inputs[i]);
    copied_[i] = inputs[i];
  }
}

void PhaseRunner::run_nodes() {
  const at::AutoGradMode gradients(rule_ || plan_.differentiates);
  const std::string& phase = bound_.phase.name;
  begun_ = 0;
  located([&] { forward(); },
          [&] {
            const BoundNode& node = graph_.nodes[begun_ - 1];
            return cat("in the forward pass of phase '", phase, "' at ", kind(node.op), " '", node.name, "'");
          });
  outputs_.clear();
  terms_.clear();
  if (bound_.capture)
    for (const auto& [name, id] : graph_.outputs) outputs_.push_back(values_[index(id)].detach().clone());
  for (const BoundTerm& term : graph_.loss) terms_.push_back(values_[index(term.value)]);
  for (const ValueId id : results_) values_[index(id)].reset();  // backward keeps what it needs
  if (watch_) settle_what_is_kept();
  if (rule_) located([&] { backward(); }, [&] { return cat("in the backward pass of phase '", phase, "'"); });
  for (at::Tensor& term : terms_) term = term.detach();
  if (PhaseTrace* trace = traced()) trace->end();
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
  context_.left = this;
  TensorList roots, upstream;
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (!terms_[i].requires_grad()) continue;
    const at::Tensor& norm = values_[index(graph_.loss[i].norm)];
    roots.push_back(terms_[i]);
    upstream.push_back(bound_.phase.update.loss_scale ? norm.mul(loss_scale_.value()) : norm);
  }
  std::optional<PhaseWatch::Backward> watched;
  if (watch_) watched.emplace(*watch_);
  if (exchanges_) exchange_->before_backward();
  if (!roots.empty()) run_backward(roots, upstream);
  if (!watch_) return;
  for (const at::Tensor& parameter : trained_) watch_->classify(parameter.grad(), MemoryClass::weight_grad);
}

// Waits for the device, once and at the end: an update that is enqueued before costs no gap.
void PhaseRunner::read_terms() {
  const at::NoGradGuard no_grad;
  if (context_.device.is_cpu() || terms_.size() == 1) {
    for (size_t i = 0; i < terms_.size(); ++i) term_values_[i] = terms_[i].item<double>();
  } else if (!terms_.empty()) {
    const at::Tensor all = at::stack(terms_).to(at::kCPU, at::kDouble);
    for (size_t i = 0; i < terms_.size(); ++i) term_values_[i] = all.data_ptr<double>()[i];
  }
  for (const double value : term_values_) finite_ = finite_ && std::isfinite(value);
  if (!step_graph_) terms_.clear();
}

TensorList PhaseRunner::gradients() const {
  TensorList out;
  for (const at::Tensor& parameter : rule_->parameters())
    out.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter.detach()));
  return out;
}

void PhaseRunner::drop_gradients() const {
  for (const at::Tensor& parameter : trained_) parameter.mutable_grad().reset();
}

// A share is left out where any is: all ranks take one step.
bool PhaseRunner::finite_on_all(bool finite) const {
  if (!context_.shards) return finite;
  double found = finite ? 0 : 1;
  context_.shards->sum(std::span(&found, 1));
  return found == 0;
}

void PhaseRunner::update() {
  const at::NoGradGuard no_grad;
  if (PhaseTrace* trace = traced()) trace->begin_update();
  if (watch_) watch_->ledger().enter(MemoryPhase::update);
  const TensorList total = gradients();
  if (bound_.phase.update.loss_scale) {
    skipped_ = !finite_on_all(unscale(total, loss_scale_.value()));
    loss_scale_.update(skipped_);
  }
  gradients_.clear();
  if (bound_.capture)
    for (const at::Tensor& gradient : total) gradients_.push_back(gradient.detach().clone());
  if (!skipped_) {
    rule_->apply(total);
    if (average_) average_->apply();
    if (context_.shards) context_.exchange->spread(trained_, owners_);
  }
  if (PhaseTrace* trace = traced()) trace->end();
}

std::optional<HostTensor> PhaseRunner::gradient(size_t index) {
  if (!gradients_.empty()) return to_host(gradients_[index]);
  if (context_.left != this) return std::nullopt;
  const at::Tensor& gradient = trained_[index].grad();
  return gradient.defined() ? std::optional(to_host(gradient)) : std::nullopt;
}

}  // namespace tbd::pytorch
