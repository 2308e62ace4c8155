#include "backends/mxnet/phase.h"

#include <algorithm>

#include "backends/mxnet/arithmetic.h"
#include "backends/mxnet/memory_pass.h"
#include "backends/mxnet/op_trace.h"
#include "host/registry.h"

namespace tbd::mxnet {
namespace {

int64_t samples(const Phase& phase, const PhaseOptions& options) {
  const auto n = options.bindings.find("N");
  return (n == options.bindings.end() ? 1 : n->second) * phase.accumulate * options.world;
}

bool contains(const auto& all, const auto& one) { return std::ranges::find(all, one) != all.end(); }

}  // namespace

PhaseRunner::PhaseRunner(const Program& program, const Phase& phase, Weights& weights, const PhaseOptions& options)
    : phase_(phase),
      graph_(bind(program, phase, options.bindings)),
      weights_(weights),
      options_(options),
      global_batch_(samples(phase, options)),
      differentiated_(gradient_needs(graph_)),
      readers_(graph_.values.size()),
      arrays_(graph_.values.size()),
      gradients_(graph_.values.size()),
      terms_(graph_.loss.size()),
      trained_names_(phase.wrt()) {
  if (phase.update.loss_scale) fail(ErrorKind::unsupported, "mxnet's CPU kernels do not run in f16");
  split();
  bind_variables();
  variances_.emplace(
      graph_, [this](const BoundNode& node) { return by_backward(node); }, weights_);
  build_segments();
  if (trained_names_.empty()) return;
  rule_.emplace(phase.update, weights, trained_gradients_);
  std::vector<std::string> averaged = trained_names_;
  for (const Value& value : graph_.values)
    if (value.kind == Value::Kind::buffer && is_float(value.dtype)) averaged.push_back(value.name);
  if (phase.update.ema) average_.emplace(*phase.update.ema, averaged, weights);
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
  for (const std::string& name : trained_names_) {
    const Array& weight = weights_.parameter(name);
    const Array& gradient = trained_gradients_.emplace_back(weight.dtype(), weight.shape());
    const std::optional<ValueId> id = graph_.find(name);
    if (!id) continue;
    gradients_[index(*id)] = gradient;
    if (phase_.accumulate > 1 || readers_[index(*id)].size() > 1) cleared_.push_back(gradient);
  }
}

void PhaseRunner::build_segments() {
  for (size_t s = 0; s < cut_.size(); ++s) {
    const HandedOut out = handed_out(s);
    std::unique_ptr<Segment>& segment = segments_.emplace_back();
    if (out.heads.empty()) continue;
    segment = std::make_unique<Segment>(graph_, cut_[s], out.heads, [&](ValueId id) { return bound(id); });
    for (size_t h = 0; h < out.heads.size(); ++h) out.takers[h](segment->outputs(h));
    if (options_.tracer) options_.tracer->watch(segment->executor(), graph_);
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
  const bool kept = options_.capture || graph_.loss.empty();
  return kept && std::ranges::any_of(graph_.outputs, [&](const auto& output) { return output.second == id; });
}

PhaseRunner::HandedOut PhaseRunner::handed_out(size_t segment) {
  HandedOut out;
  const auto add = [&](Head head, auto taker) { out.heads.push_back(head), out.takers.emplace_back(taker); };
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
  return needs(node.outputs[0]) && backward_updates(graph_.value(node.inputs.back()).dtype);
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
  find_host_function(op.function)(operands, results);
  for (size_t i = 0; i < results.size(); ++i) arrays_[index(call.node->outputs[i])].set(results[i]);
}

void PhaseRunner::enter(EventPhase part) const {
  if (options_.tracer) options_.tracer->enter(part);
}

void PhaseRunner::begin() {
  enter(EventPhase::backward);  // clears gradients
  for (const Array& gradient : cleared_) clear(gradient);
  term_sums_.clear(), captured_.clear();
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

double PhaseRunner::run() {
  ran_ = true;
  enter(EventPhase::forward);
  variances_->hold();
  for (size_t s = 0; s < segments_.size(); ++s) {
    if (segments_[s]) segments_[s]->forward();
    for (const HostNode& call : host_calls_)
      if (call.before == s) call_host(call);
  }
  for (const ForwardStatistics& each : statistics_) each.update();
  if (trains()) backward();
  return collect_losses();
}

void PhaseRunner::backward() {
  enter(EventPhase::backward);
  for (const Array& gradient : cleared_each_run_) clear(gradient);
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment)
    if (*segment) (*segment)->backward();
}

// Waits for the forward pass alone; backward may still run.
double PhaseRunner::collect_losses() {
  double loss = 0;
  for (size_t t = 0; t < terms_.size(); ++t) {
    const BoundTerm& term = graph_.loss[t];
    const double value = as_doubles(terms_[t].host())[0] * as_doubles(arrays_[index(term.norm)].host())[0];
    loss += value;
    if (options_.capture) term_sums_[term.name] += value;
  }
  if (!options_.capture) return loss;
  for (const auto& [name, value] : term_sums_)
    captured_["term/" + name] = HostTensor(DType::f64, Shape{}, std::span<const double>(&value, 1));
  for (const auto& [name, id] : graph_.outputs) captured_["output/" + name] = arrays_[index(id)].host();
  return loss;
}

void PhaseRunner::update(int64_t schedule_step, int64_t count_offset, std::optional<double> lr) {
  enter(EventPhase::update);
  if (options_.capture)
    for (size_t i = 0; i < trained_names_.size(); ++i)
      captured_["grad/" + trained_names_[i]] = trained_gradients_[i].host();
  const int64_t before = applied_updates_ + count_offset;
  rule_->apply(update_scalars(phase_.update, schedule_step, before, global_batch_, lr));
  if (average_) average_->apply();
  ++applied_updates_;
}

std::string PhaseRunner::first_non_finite_gradient() const {
  for (size_t i = 0; i < trained_gradients_.size(); ++i)
    if (!is_finite(trained_gradients_[i])) return "grad/" + trained_names_[i];
  return "";
}

}  // namespace tbd::mxnet
