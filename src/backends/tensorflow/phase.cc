#include "backends/tensorflow/phase.h"

#include <algorithm>

namespace tbd::tensorflow {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

// Images lie channels last.
Layout layout_of_input(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const auto reads_no_image = [&](const BoundNode& node) {
    return !traits(node.op).images && std::ranges::find(node.inputs, id) != node.inputs.end();
  };
  const bool image = value.shape.rank() == 4 && is_float(value.dtype);
  return image && std::ranges::none_of(graph.nodes, reads_no_image) ? Layout::nhwc : Layout::row;
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

PhaseRunner::PhaseRunner(const BoundPhase& bound, SessionContext& session)
    : bound_(bound),
      phase_(bound.phase),
      graph_(bound.graph),
      ragged_(graph_),
      session_(session),
      context_{.graph = session.graph, .seed = session.seed, .cuts_rows = session.cuts_rows && !bound.capture},
      values_(graph_.values.size()),
      term_values_(graph_.loss.size()) {
  if (phase_.update.loss_scale) fail(ErrorKind::unsupported, "the tensorflow back-end has no dynamic loss scale");
  TfGraph& graph = session.graph;
  Weights& weights = session.weights;
  add_inputs(weights);
  claim(-1, EventPhase::input);
  add_nodes(graph);
  graph.set_scope(phase_.name + "/update");
  if (!graph_.trained.empty()) add_backward(graph, weights);
  for (size_t id = 0; id < values_.size(); ++id) {
    if (!values_[id].assigned) continue;
    const Variable& buffer = weights.buffer(graph_.values[id].name);
    always_.push_back(
        graph.op("AssignVariableOp").in(buffer.handle).in(values_[id].output).after(buffer.value.output.oper).finish());
  }
  claim(-1, EventPhase::update);
}

void PhaseRunner::claim(int32_t node, EventPhase phase) {
  if (session_.origins) session_.origins->claim(node, phase);
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
        const ValueId id = node.outputs[r];
        const Value& value = graph_.value(id);
        values_[index(id)] = {results[r].output, results[r].layout, value.shape, value.dtype};
        values_[index(id)].cut = context_.cuts_rows && ragged_.is_ragged(id);
      }
      claim(bound_.first_node + static_cast<int32_t>(i), EventPhase::forward);
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
    terms.push_back(value.output);
    norms.push_back(args.cast(norm.output, norm.dtype, value.dtype));
  }
  for (const ValueId id : graph_.trained) parameters.push_back(values_[index(id)].output);
  std::vector<TF_Output> out(parameters.size(), TF_Output{nullptr, 0});
  std::optional<OpOrigins::Watch> watch;
  if (session_.origins) watch.emplace(*session_.origins);
  if (!terms.empty()) out = graph.gradients(terms, parameters, norms);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].oper) out[i] = graph.op("ZerosLike").in(parameters[i]).out();
  if (session_.origins) session_.origins->claim_gradients();
  return out;
}

// Sums over micro-batches: the first one is stored, further ones are added, the last one's stay tensors.
std::vector<TF_Output> PhaseRunner::accumulated(TfGraph& graph, Weights& weights,
                                                const std::vector<TF_Output>& gradients) {
  if (phase_.accumulate == 1) return gradients;
  std::vector<TF_Output> out;
  const std::vector<std::string>& names = bound_.trained;
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
  std::vector<TF_Output> total = accumulated(graph, weights, gradients(graph));
  const auto last = static_cast<size_t>(Part::last);
  for (size_t i = 0; i < total.size(); ++i) {
    Operand& gradient = gradients_.emplace_back(weights.parameter(bound_.trained[i]).value);
    gradient.output = total[i];
  }
  if (session_.exchange) {
    claim(-1, EventPhase::update);
    std::vector<Summand> sums;
    for (const Operand& each : gradients_) sums.push_back({each.output, each.physical(), each.dtype});
    session_.exchange->sum_gradients(graph, sums);
    for (size_t i = 0; i < sums.size(); ++i) gradients_[i].output = total[i] = sums[i].output;
    claim(-1, EventPhase::comm);
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

void PhaseRunner::begin_staging(size_t micro_batches) {
  staged_.assign(micro_batches, std::vector<std::shared_ptr<TF_Tensor>>(values_.size()));
}

void PhaseRunner::stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) {
  const DType dtype = graph_.value(input).dtype;
  const Layout layout = values_[index(input)].layout;
  const char* laid_out = layout == Layout::nhwc ? "#nhwc" : "";
  std::shared_ptr<TF_Tensor>& tensor = session_.inputs[cat(name, '#', tbd::name(dtype), laid_out)];
  if (!tensor) tensor = to_tensor(value, dtype, layout);
  staged_[micro_batch][index(input)] = tensor;
}

std::span<const double> PhaseRunner::run(const MicroBatch& micro) {
  if (micro.first) session_.weights.flush();
  const Part part = micro.update ? Part::last : micro.first ? Part::first : Part::middle;
  const std::vector<std::shared_ptr<TF_Tensor>>& inputs = staged_[micro.staged];
  std::vector<Feed> feeds;
  for (size_t id = 0; id < inputs.size(); ++id)
    if (inputs[id]) feeds.push_back({values_[id].output, inputs[id].get()});
  std::vector<TensorHandle> scalars;
  if (micro.update)
    for (const StepScalar& each : scalars_) {
      scalars.push_back(scalar(each.value(micro.update->scalars, micro.update->number), each.dtype));
      feeds.push_back({each.to, scalars.back().get()});
    }
  std::vector<TF_Output> fetches;
  for (const BoundTerm& term : graph_.loss) fetches.push_back(values_[index(term.value)].output);
  if (ragged_.count()) fetches.push_back(values_[index(*ragged_.count())].output);
  if (bound_.capture) {
    for (const auto& [name, id] : graph_.outputs) fetches.push_back(values_[index(id)].output);
    if (micro.update)
      for (const Operand& gradient : gradients_) fetches.push_back(gradient.output);
  }
  std::vector<TF_Operation*> targets = targets_[static_cast<size_t>(part)];
  targets.insert(targets.end(), always_.begin(), always_.end());
  collect(run_session(feeds, fetches, targets), micro.update != nullptr);
  return term_values_;
}

std::vector<TensorHandle> PhaseRunner::run_session(const std::vector<Feed>& feeds,
                                                   const std::vector<TF_Output>& fetches,
                                                   const std::vector<TF_Operation*>& targets) {
  const int64_t number = session_.runs++;
  if (!session_.recorded) return session_.session->run(feeds, fetches, targets);
  RunRecord record = {.number = number, .before = read_clocks()};
  std::vector<TensorHandle> fetched = session_.session->run(feeds, fetches, targets, &record.metadata);
  record.after = read_clocks();
  session_.recorded(std::move(record));
  return fetched;
}

void PhaseRunner::collect(const std::vector<TensorHandle>& fetched, bool updated) {
  auto next = fetched.begin();
  for (double& value : term_values_) value = scalar_of((next++)->get());
  if (ragged_.count()) rows_ = static_cast<int64_t>(scalar_of((next++)->get()));
  if (!bound_.capture) return;
  const auto copied = [&](const Operand& operand) { return to_host((next++)->get(), operand.shape, operand.layout); };
  captured_outputs_.clear();
  for (const auto& [name, id] : graph_.outputs) captured_outputs_.push_back(copied(values_[index(id)]));
  if (!updated) return;
  captured_gradients_.clear();
  for (const Operand& gradient : gradients_) captured_gradients_.push_back(copied(gradient));
}

std::optional<HostTensor> PhaseRunner::gradient(size_t index) {
  return captured_gradients_.empty() ? std::nullopt : std::optional(captured_gradients_[index]);
}

}  // namespace tbd::tensorflow
