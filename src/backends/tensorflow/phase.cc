#include "backends/tensorflow/phase.h"

#include <algorithm>

namespace tbd::tensorflow {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

int64_t samples(const Phase& phase, const PhaseOptions& options) {
  const auto n = options.bindings.find("N");
  return (n == options.bindings.end() ? 1 : n->second) * phase.accumulate * options.world;
}

// Of rank 4 are images, which lie channels last, and what ops of sequences read: heads and masks of attention.
Layout layout_of_input(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const auto is_of_heads = [&](const BoundNode& node) {
    const bool reads_heads = std::holds_alternative<Attention>(node.op) || std::holds_alternative<Rotary>(node.op);
    return reads_heads && std::ranges::find(node.inputs, id) != node.inputs.end();
  };
  const bool image = value.shape.rank() == 4 && is_float(value.dtype);
  return image && std::ranges::none_of(graph.nodes, is_of_heads) ? Layout::nhwc : Layout::row;
}

std::vector<Operand> lowered(const Op& op, const Args& args) {
  const auto lower_one = [&](const auto& concrete) {
    auto result = lower(concrete, args);
    if constexpr (std::same_as<decltype(result), Operand>)
      return std::vector<Operand>{result};
    else
      return result;
  };
  return std::visit(lower_one, op);
}

}  // namespace

PhaseRunner::PhaseRunner(const Program& program, const Phase& phase, TfGraph& graph, Weights& weights,
                         const PhaseOptions& options)
    : phase_(phase),
      graph_(bind(program, phase, options.bindings)),
      options_(options),
      global_batch_(samples(phase, options)),
      context_{graph, options.seed},
      values_(graph_.values.size()) {
  if (phase.update.loss_scale) fail(ErrorKind::unsupported, "the tensorflow back-end has no dynamic loss scale");
  add_inputs(weights);
  claim(-1, EventPhase::input);
  add_nodes(graph);
  graph.set_scope(phase_.name + "/update");
  if (!graph_.trained.empty()) add_backward(graph, weights);
  for (const auto& [name, id] : graph_.outputs)
    for (auto& captures : captures_) captures.push_back({"output/" + name, values_[index(id)]});
  for (size_t id = 0; id < values_.size(); ++id) {
    if (!values_[id].assigned) continue;
    const Variable& buffer = weights.buffer(graph_.values[id].name);
    always_.push_back(
        graph.op("AssignVariableOp").in(buffer.handle).in(values_[id].output).after(buffer.value.output.oper).finish());
  }
  claim(-1, EventPhase::update);
}

void PhaseRunner::claim(int32_t node, EventPhase phase) {
  if (options_.origins) options_.origins->claim(node, phase);
}

void PhaseRunner::add_inputs(Weights& weights) {
  for (size_t id = 0; id < values_.size(); ++id) {
    const Value& value = graph_.values[id];
    if (value.kind == Value::Kind::parameter) values_[id] = weights.parameter(value.name).value;
    if (value.kind == Value::Kind::buffer) values_[id] = weights.buffer(value.name).value;
    if (value.kind != Value::Kind::input) continue;
    context_.graph.set_scope(cat(phase_.name, '/', value.name));
    const Layout layout = layout_of_input(graph_, static_cast<ValueId>(id));
    const Shape physical = physical_shape(value.shape, layout);
    values_[id] = {context_.graph.placeholder(value.dtype, physical), layout, value.shape, value.dtype};
  }
}

// Nodes between the operands of some input_gradient.
std::vector<bool> PhaseRunner::differentiated_twice() const {
  std::vector<bool> twice(graph_.nodes.size());
  for (size_t slope = 0; slope < graph_.nodes.size(); ++slope) {
    if (!std::holds_alternative<InputGradient>(graph_.nodes[slope].op)) continue;
    std::vector<bool> from_x(values_.size()), to_y(values_.size());
    to_y[index(graph_.nodes[slope].inputs[0])] = from_x[index(graph_.nodes[slope].inputs[1])] = true;
    const auto any = [](const std::vector<ValueId>& ids, const std::vector<bool>& marked) {
      return std::ranges::any_of(ids, [&](ValueId id) { return marked[index(id)]; });
    };
    for (size_t i = 0; i < slope; ++i)
      if (any(graph_.nodes[i].inputs, from_x))
        for (const ValueId id : graph_.nodes[i].outputs) from_x[index(id)] = true;
    for (size_t i = slope; i-- > 0;) {
      if (!any(graph_.nodes[i].outputs, to_y)) continue;
      for (const ValueId id : graph_.nodes[i].inputs) to_y[index(id)] = true;
      twice[i] = twice[i] || any(graph_.nodes[i].inputs, from_x);
    }
  }
  return twice;
}

void PhaseRunner::add_nodes(TfGraph& graph) {
  const std::vector<bool> twice = differentiated_twice();
  const std::map<size_t, SlicePart> parts = slices_of_wholes(graph_);
  context_.weight_uses = weight_uses(graph_);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) try {
      const BoundNode& node = graph_.nodes[i];
      graph.set_scope(cat(phase_.name, '/', node.name));
      const auto part = parts.find(i);
      const SlicePart* whole = part == parts.end() ? nullptr : &part->second;
      const std::vector<Operand> results = lowered(node.op, Args(context_, values_, node.inputs, twice[i], whole));
      for (size_t r = 0; r < results.size(); ++r) {
        const Value& value = graph_.value(node.outputs[r]);
        values_[index(node.outputs[r])] = {results[r].output, results[r].layout, value.shape, value.dtype};
      }
      claim(options_.first_node + static_cast<int32_t>(i), EventPhase::forward);
    } catch (const Error& e) {
      throw e.within(cat(kind(graph_.nodes[i].op), " '", graph_.nodes[i].name, "'"));
    }
}

// Each term is a root whose gradient is its norm: no node multiplies the loss.
std::vector<TF_Output> PhaseRunner::gradients(TfGraph& graph) {
  const std::vector<bool> needs = gradient_needs(graph_);
  std::vector<TF_Output> terms, norms, parameters;
  const Args args(context_, values_, {}, false);
  for (const BoundTerm& term : graph_.loss) {
    const Operand &value = values_[index(term.value)], &norm = values_[index(term.norm)];
    if (!needs[index(term.value)]) continue;
    terms.push_back(value.output), norms.push_back(args.cast(norm.output, norm.dtype, value.dtype));
  }
  for (const ValueId id : graph_.trained) parameters.push_back(values_[index(id)].output);
  std::vector<TF_Output> out(parameters.size(), TF_Output{nullptr, 0});
  std::optional<OpOrigins::Watch> watch;
  if (options_.origins) watch.emplace(*options_.origins);
  if (!terms.empty()) out = graph.gradients(terms, parameters, norms);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].oper) out[i] = graph.op("ZerosLike").in(parameters[i]).out();
  if (options_.origins) options_.origins->claim_gradients();
  return out;
}

// Sums over micro-batches: the first one is stored, further ones are added, the last one's stay tensors.
std::vector<TF_Output> PhaseRunner::accumulated(TfGraph& graph, Weights& weights,
                                                const std::vector<TF_Output>& gradients) {
  if (phase_.accumulate == 1) return gradients;
  std::vector<TF_Output> out;
  const std::vector<std::string> names = phase_.wrt();
  for (size_t i = 0; i < names.size(); ++i) {
    const Variable& sum = weights.accumulator(names[i]);
    graph.set_scope(cat(phase_.name, "/accumulate/", names[i]));
    const auto store = [&](const char* kind) { return graph.op(kind).in(sum.handle).in(gradients[i]).finish(); };
    targets_[static_cast<size_t>(Part::first)].push_back(store("AssignVariableOp"));
    targets_[static_cast<size_t>(Part::middle)].push_back(store("AssignAddVariableOp"));
    out.push_back(graph.op("AddV2").in(sum.value.output).in(gradients[i]).out());
  }
  graph.set_scope(phase_.name + "/update");
  return out;
}

void PhaseRunner::add_backward(TfGraph& graph, Weights& weights) {
  const std::vector<TF_Output> total = accumulated(graph, weights, gradients(graph));
  const auto last = static_cast<size_t>(Part::last);
  const std::vector<std::string> names = phase_.wrt();
  for (size_t i = 0; i < names.size(); ++i) {
    Operand gradient = weights.parameter(names[i]).value;
    gradient.output = total[i];
    captures_[last].push_back({"grad/" + names[i], gradient});
  }
  std::map<std::string, TF_Output> buffers;
  for (size_t id = 0; id < values_.size(); ++id) {
    const Value& value = graph_.values[id];
    if (value.kind == Value::Kind::buffer && is_float(value.dtype)) buffers[value.name] = values_[id].output;
  }
  UpdateOps update = add_update(phase_.update, graph, weights, total, buffers);
  targets_[last] = std::move(update.targets);
  scalars_ = std::move(update.scalars);
}

double PhaseRunner::run(TfSession& session, const Batch& batch, int64_t micro, const Moment& moment,
                        RunRecord* record) {
  const bool updates = micro == phase_.accumulate - 1;
  const auto part = static_cast<size_t>(updates ? Part::last : micro == 0 ? Part::first : Part::middle);
  std::vector<Feed> feeds;
  for (size_t id = 0; id < batch.inputs.size(); ++id)
    if (batch.inputs[id]) feeds.push_back({values_[id].output, batch.inputs[id].get()});
  std::vector<TensorHandle> scalars;
  if (updates && !scalars_.empty()) {
    const int64_t before = applied_updates_ + moment.count_offset;
    const UpdateScalars now = update_scalars(phase_.update, moment.schedule_step, before, global_batch_, moment.lr);
    for (const StepScalar& each : scalars_) {
      scalars.push_back(scalar(each.value(now, before + 1), each.dtype));
      feeds.push_back({each.to, scalars.back().get()});
    }
    ++applied_updates_;
  }
  std::vector<TF_Output> fetches;
  for (const BoundTerm& term : graph_.loss) fetches.push_back(values_[index(term.value)].output);
  static const std::vector<Fetch> kNone;
  const std::vector<Fetch>& captures = options_.capture ? captures_[part] : kNone;
  for (const Fetch& capture : captures) fetches.push_back(capture.operand.output);
  std::vector<TF_Operation*> targets = targets_[part];
  targets.insert(targets.end(), always_.begin(), always_.end());
  if (record) record->before = read_clocks();
  const std::vector<TensorHandle> fetched = session.run(feeds, fetches, targets, record ? &record->metadata : nullptr);
  if (record) record->after = read_clocks();
  return collect(fetched, batch, captures);
}

double PhaseRunner::collect(const std::vector<TensorHandle>& fetched, const Batch& batch,
                            const std::vector<Fetch>& captures) {
  double loss = 0;
  for (size_t i = 0; i < graph_.loss.size(); ++i) {
    const double value = scalar_of(fetched[i].get()) * batch.norms[i];
    loss += value;
    if (options_.capture) term_sums_[graph_.loss[i].name] += value;
  }
  for (size_t i = 0; i < captures.size(); ++i) {
    const Operand& operand = captures[i].operand;
    captured_[captures[i].name] = to_host(fetched[graph_.loss.size() + i].get(), operand.shape, operand.layout);
  }
  for (const auto& [name, value] : term_sums_)
    captured_["term/" + name] = HostTensor(DType::f64, Shape{}, std::span<const double>(&value, 1));
  return loss;
}

}  // namespace tbd::tensorflow
