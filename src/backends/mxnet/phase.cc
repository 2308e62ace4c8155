#include "backends/mxnet/phase.h"

#include <algorithm>

#include "backends/mxnet/arithmetic.h"
#include "backends/mxnet/memory_pass.h"
#include "backends/mxnet/op_trace.h"
#include "host/registry.h"

namespace tbd::mxnet {
namespace {

bool contains(const auto& all, const auto& one) { return std::ranges::find(all, one) != all.end(); }

}  // namespace

PhaseRunner::PhaseRunner(const BoundPhase& bound, SessionContext& context)
    : bound_(bound),
      graph_(bound.graph),
      context_(context),
      weights_(context.weights),
      differentiated_(gradient_needs(graph_)),
      readers_(graph_.values.size()),
      arrays_(graph_.values.size()),
      gradients_(graph_.values.size()),
      terms_(graph_.loss.size()),
      term_values_(graph_.loss.size()) {
  const Update& update = bound.phase.update;
  if (update.loss_scale) fail(ErrorKind::unsupported, "mxnet's CPU kernels do not run in f16");
  split();
  bind_variables();
  variances_.emplace(
      graph_, [this](const BoundNode& node) { return by_backward(node); }, weights_);
  build_segments();
  if (bound.trained.empty()) return;
  rule_.emplace(update, weights_, trained_gradients_);
  if (context_.exchange && context_.sums_gradients) exchange_ = context_.exchange->of_gradients(trained_gradients_);
  if (!bound.averaged.empty()) average_.emplace(*update.ema, bound.averaged, weights_);
}

void PhaseRunner::begin_staging(size_t micro_batches) { staged_.assign(micro_batches, {}); }

void PhaseRunner::stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) {
  const Array& own = arrays_[index(input)];
  if (staged_.size() == 1) return own.set(value);
  Array& shared = context_.inputs[cat(name, '#', tbd::name(own.dtype()))];
  if (!shared) shared = Array(own.dtype(), own.shape());
  shared.set(value);
  staged_[micro_batch].emplace_back(shared, own);
}

// Each host call ends a segment.
void PhaseRunner::split() {
  const std::span<const BoundNode> all = graph_.nodes;
  size_t start = 0;
  for (size_t n = 0; n < all.size(); ++n) {
    for (const ValueId id : all[n].inputs) readers_[index(id)].insert(cut_.size());
    if (!std::holds_alternative<HostCall>(all[n].op)) continue;
    host_calls_.push_back({&all[n], cut_.size()});
    cut_.push_back(all.subspan(start, n - start));
    start = n + 1;
  }
  cut_.push_back(all.subspan(start));
}

void PhaseRunner::bind_variables() {
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    const Value& value = graph_.values[id];
    if (value.kind == Value::Kind::parameter) arrays_[id] = weights_.parameter(value.name);
    if (value.kind == Value::Kind::buffer) arrays_[id] = weights_.buffer(value.name).array();
    if (value.kind == Value::Kind::input) arrays_[id] = Array(value.dtype, value.shape);
  }
  for (const HostNode& call : host_calls_)
    for (const ValueId id : call.node->outputs)
      arrays_[index(id)] = Array(graph_.value(id).dtype, graph_.value(id).shape);
  for (const std::string& name : bound_.trained) {
    const Array& weight = weights_.parameter(name);
    const Array& gradient = trained_gradients_.emplace_back(weight.dtype(), weight.shape());
    const std::optional<ValueId> id = graph_.find(name);
    if (!id) continue;
    gradients_[index(*id)] = gradient;
    if (bound_.phase.accumulate > 1 || readers_[index(*id)].size() > 1) cleared_.push_back(gradient);
  }
}

void PhaseRunner::build_segments() {
  for (size_t s = 0; s < cut_.size(); ++s) {
    const HandedOut out = handed_out(s);
    std::unique_ptr<Segment>& segment = segments_.emplace_back();
    if (out.heads.empty()) continue;
    segment = std::make_unique<Segment>(graph_, cut_[s], out.heads, [&](ValueId id) { return bound(id); });
    for (size_t h = 0; h < out.heads.size(); ++h) out.takers[h](segment->outputs(h));
    if (context_.tracer) context_.tracer->watch(segment->executor(), graph_);
  }
  for (size_t t = 0; t < terms_.size(); ++t)
    require(bool(terms_[t]), "loss term '", graph_.loss[t].name, "' is no result of a node");
}

size_t PhaseRunner::later_readers(ValueId id, size_t segment) const {
  return static_cast<size_t>(std::ranges::count_if(readers_[index(id)], [&](size_t each) { return each > segment; }));
}

// Whether anything but the segment's own nodes and the loss reads the value.
bool PhaseRunner::leaves(ValueId id, size_t segment) const {
  if (later_readers(id, segment) > 0) return true;
  for (const HostNode& call : host_calls_)
    if (contains(call.node->inputs, id)) return true;
  const bool kept = bound_.capture || graph_.loss.empty();
  return kept && std::ranges::any_of(graph_.outputs, [&](const auto& output) { return output.second == id; });
}

PhaseRunner::HandedOut PhaseRunner::handed_out(size_t segment) {
  HandedOut out;
  const auto add = [&](Head head, auto taker) {
    out.heads.push_back(head);
    out.takers.emplace_back(taker);
  };
  const auto add_result = [&](ValueId id) {
    const Value& value = graph_.value(id);
    for (size_t t = 0; t < terms_.size(); ++t)
      if (graph_.loss[t].value == id)
        add({id, needs(id) ? arrays_[index(graph_.loss[t].norm)] : Array()},
            [this, t](const std::vector<Array>& made) { terms_[t] = made[0].with_shape({}); });
    if (!leaves(id, segment)) return;
    const size_t readers = later_readers(id, segment);
    if (readers > 0 && needs(id)) gradients_[index(id)] = Array(value.dtype, value.shape);
    if (readers > 1 && needs(id)) cleared_each_run_.push_back(gradients_[index(id)]);
    add({id, gradients_[index(id)]},
        [this, id, &value](const std::vector<Array>& made) { arrays_[index(id)] = made[0].with_shape(value.shape); });
  };
  for (const BoundNode& node : cut_[segment]) {
    for (const ValueId id : node.outputs) add_result(id);
    if (updates_statistics(node) && !by_backward(node))
      add({node.inputs[0], {}, true},
          [this, &node](const std::vector<Array>& made) { statistics_.emplace_back(graph_, node, weights_, made); });
  }
  return out;
}

bool PhaseRunner::by_backward(const BoundNode& node) const {
  const auto* op = std::get_if<BatchNorm>(&node.op);
  return op && needs(node.outputs[0]) && backward_updates(*op, graph_.value(node.inputs.back()).dtype);
}

Bound PhaseRunner::bound(ValueId id) const {
  const Array& gradient = gradients_[index(id)];
  if (!gradient || !needs(id)) return {arrays_[index(id)], {}};
  const auto is = [&](const Array& each) { return each.handle() == gradient.handle(); };
  const bool adds = std::ranges::any_of(cleared_, is) || std::ranges::any_of(cleared_each_run_, is);
  return {arrays_[index(id)], gradient, adds ? Gradient::add : Gradient::write};
}

void PhaseRunner::call_host(const HostNode& call) {
  const auto& op = std::get<HostCall>(call.node->op);
  std::vector<HostTensor> operands, results;
  for (const ValueId id : call.node->inputs) operands.push_back(arrays_[index(id)].host());
  for (const ValueId id : call.node->outputs) results.emplace_back(graph_.value(id).dtype, graph_.value(id).shape);
  find_host_function(op.function)(operands, op.numbers, results);
  for (size_t i = 0; i < results.size(); ++i) arrays_[index(call.node->outputs[i])].set(results[i]);
  if (op.rows >= 0) rows_ = results[static_cast<size_t>(op.rows)].as<int32_t>()[0];
}

void PhaseRunner::enter(EventPhase part) const {
  if (context_.tracer) context_.tracer->enter(part);
}

void PhaseRunner::begin() {
  enter(EventPhase::backward);  // clears gradients
  for (const Array& gradient : cleared_) clear(gradient);
}

void PhaseRunner::tell(MemoryWatch& memory) const {
  for (const Array& gradient : trained_gradients_) memory.owns(gradient, MemoryClass::weight_grad);
  for (const Array& gradient : gradients_) memory.owns(gradient, MemoryClass::activation_grad);
  for (size_t id = 0; id < graph_.values.size(); ++id)
    if (graph_.values[id].kind == Value::Kind::input) memory.owns(arrays_[id], MemoryClass::input);
  for (const HostNode& call : host_calls_)
    for (const ValueId id : call.node->outputs) memory.owns(arrays_[index(id)], MemoryClass::temporary);
  for (const std::unique_ptr<Segment>& segment : segments_)
    if (segment)
      for (const auto& [name, array] : segment->constants()) memory.owns(array, MemoryClass::auxiliary);
}

void PhaseRunner::executors_run(std::vector<const Executor*>& into) const {
  for (const std::unique_ptr<Segment>& segment : segments_)
    if (ran_ && segment) into.push_back(&segment->executor());
}

std::span<const double> PhaseRunner::run(const MicroBatch& micro) {
  if (micro.first) begin();
  enter(EventPhase::input);
  for (const auto& [from, to] : staged_[micro.staged]) copy(from, to);
  forward();
  if (rule_) backward();
  if (micro.update && exchange_) exchange_->sum();
  wait_for_others(context_.exchange, [this] { read_terms(); });
  if (bound_.capture) capture_outputs();
  if (micro.update) update(*micro.update);
  return term_values_;
}

// Waits for the forward pass alone, and the update before it; backward may still run.
void PhaseRunner::read_terms() {
  for (size_t t = 0; t < terms_.size(); ++t) term_values_[t] = as_doubles(terms_[t].host())[0];
}

void PhaseRunner::forward() {
  ran_ = true;
  enter(EventPhase::forward);
  variances_->hold();
  for (size_t s = 0; s < segments_.size(); ++s) {
    if (segments_[s]) segments_[s]->forward();
    for (const HostNode& call : host_calls_)
      if (call.before == s) call_host(call);
  }
  for (const ForwardStatistics& each : statistics_) each.update();
}

void PhaseRunner::backward() {
  enter(EventPhase::backward);
  for (const Array& gradient : cleared_each_run_) clear(gradient);
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment)
    if (*segment) (*segment)->backward();
}

void PhaseRunner::capture_outputs() {
  outputs_.clear();
  for (const auto& [name, id] : graph_.outputs) outputs_.push_back(arrays_[index(id)].host());
}

void PhaseRunner::update(const UpdateStep& step) {
  enter(EventPhase::update);
  captured_gradients_.clear();
  if (bound_.capture)
    for (const Array& gradient : trained_gradients_) captured_gradients_.push_back(gradient.host());
  rule_->apply(step.scalars);
  if (average_) average_->apply();
}

std::optional<HostTensor> PhaseRunner::gradient(size_t index) {
  if (!captured_gradients_.empty()) return captured_gradients_[index];
  return ran_ ? std::optional(trained_gradients_[index].host()) : std::nullopt;
}

}  // namespace tbd::mxnet
