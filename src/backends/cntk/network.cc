#include "backends/cntk/network.h"

#include <algorithm>

namespace tbd::cntk {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

std::vector<Tensor> results(Tensor only) { return {std::move(only)}; }
std::vector<Tensor> results(std::vector<Tensor> several) { return several; }

// Runs otherwise where CNTK does not train.
bool trains_itself(const BoundNode& node) {
  const auto* norm = std::get_if<BatchNorm>(&node.op);
  const auto drop = dropout_rate(node.op);
  return (norm && norm->stats != BatchNorm::Stats::frozen) || (drop && *drop > 0);
}

CNTK::CompositeFunction& composite(const CNTK::FunctionPtr& function) {
  return *reinterpret_cast<CNTK::CompositeFunction*>(function.get());
}

double first_element(const CNTK::NDArrayViewPtr& view, CNTK::DataType type) {
  return type == CNTK::DataType::kDouble ? *view->DataBuffer<double>() : *view->DataBuffer<float>();
}

}  // namespace

Network::Network(const BoundPhase& bound, CNTK::DataType type, const Weights& weights)
    : bound_(bound), graph_(bound.graph), type_(type), needs_(gradient_needs(graph_)), values_(graph_.values.size()) {
  find_samples();
  guarded([&] {
    for (size_t id = 0; id < values_.size(); ++id) {
      const ValueId value = static_cast<ValueId>(id);
      if (graph_.value(value).kind == Value::Kind::result) continue;
      declare(value, weights);
    }
    lower_nodes();
    name_roots();
  });
}

// Inputs whose first extent is the program's N; masks have the shape of what they mask.
void Network::find_samples() {
  std::optional<int64_t> samples;
  for (const InputSpec& input : bound_.phase.inputs)
    if (const auto id = graph_.find(input.name); id && !input.shape.empty() && !input.shape[0].symbol.empty()) {
      with_samples_.push_back(*id);
      samples = graph_.value(*id).shape[0];
    }
  for (const InputSpec& input : bound_.phase.inputs)
    if (const auto id = graph_.find(input.name); id && !input.like.empty()) {
      const Shape& shape = graph_.value(*id).shape;
      if (shape.rank() > 0 && samples && shape[0] == *samples) with_samples_.push_back(*id);
    }
}

void Network::declare(ValueId id, const Weights& weights) {
  const Value& value = graph_.value(id);
  const std::wstring name = wide(value.name);
  Tensor& tensor = values_[index(id)];
  tensor.shape = value.shape;
  if (value.kind == Value::Kind::parameter) {
    tensor.variable = parameters_.emplace_back(weights.leaf_of_parameter(value.name));
    if (needs_[index(id)])
      trained_.emplace(id, *tensor.variable);
    else
      frozen_.insert(*tensor.variable);
  } else if (value.kind == Value::Kind::buffer) {
    tensor.variable = buffers_.emplace_back(weights.leaf_of_buffer(value.name));
  } else if (std::ranges::count(with_samples_, id) > 0) {
    tensor.batched = true;
    tensor.variable = CNTK::InputVariable(native_shape(value.shape, true), /*is_sparse=*/false, type_,
                                          /*needs_gradient=*/false, name, {CNTK::Axis::DefaultBatchAxis()});
    inputs_.emplace(id, *tensor.variable);
  } else {
    const CNTK::Constant constant(make_view(type_, native_shape(value.shape, false)), name);
    tensor.variable = constants_.emplace(id, constant).first->second;
  }
}

void Network::lower_nodes() {
  for (const BoundNode& node : graph_.nodes) {
    const Args args(graph_, node, values_, type_);
    try {
      std::vector<Tensor> made =
          guarded([&] { return std::visit([&](const auto& op) { return results(lower(op, args)); }, node.op); });
      for (size_t i = 0; i < made.size(); ++i) values_[index(node.outputs[i])] = std::move(made[i]);
    } catch (const Error& e) {
      throw e.within(cat(kind(node.op), " '", node.name, "'"));
    }
  }
}

// The loss times its norms is what backward starts from; a value that is asked for has a name of its own.
void Network::name_roots() {
  std::vector<CNTK::Variable> all;
  for (const BoundTerm& term : graph_.loss) {
    terms_.push_back(CNTK::Alias(*fixed(values_[index(term.value)]), L""));
    const CNTK::Variable part = times(terms_.back(), *values_[index(term.norm)]);
    root_ = root_ ? plus(*root_, part) : part;
  }
  if (root_) all.push_back(*root_);
  all.insert(all.end(), terms_.begin(), terms_.end());
  if (bound_.capture)
    for (const auto& [name, id] : graph_.outputs) outputs_.push_back(CNTK::Alias(*values_[index(id)], L""));
  all.insert(all.end(), outputs_.begin(), outputs_.end());
  require(!all.empty(), "a phase without a loss or outputs");
  if (!trained_.empty() || std::ranges::any_of(graph_.nodes, trains_itself)) state_of_.insert(all.front());
  function_ = CNTK::Combine(all, L"");
}

void Network::set(ValueId input, const Array& value) {
  guarded([&] {
    if (has_samples(input)) {
      arguments_[inputs_.at(input)] = make_value(value.view());
      return;
    }
    const Value& of = graph_.value(input);
    Array(type_, of.dtype, of.shape, constants_.at(input).Value()).set(value.host());
  });
}

NetworkRun Network::forward() {
  return guarded([&] {
    for (CNTK::Parameter& parameter : parameters_) parameter.RecordValueUpdate();
    for (CNTK::Constant& buffer : buffers_) buffer.RecordValueUpdate();
    for (auto& [id, constant] : constants_) constant.RecordValueUpdate();
    CNTK::Values made;
    if (root_) made[*root_] = nullptr;
    for (const CNTK::Variable& term : terms_) made[term] = nullptr;
    for (const CNTK::Variable& output : outputs_) made[output] = nullptr;
    state_ = composite(function_).Forward(arguments_, made, {}, state_of_, frozen_);
    NetworkRun run;
    for (const CNTK::Variable& term : terms_) run.terms.push_back(first_element(made.at(term)->Data(), type_));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Value& value = graph_.value(graph_.outputs[i].second);
      run.outputs.push_back(Array(type_, value.dtype, value.shape, made.at(outputs_[i])->Data()).host());
    }
    return run;
  });
}

std::vector<Array> Network::backward() {
  std::vector<Array> out(bound_.trained.size());
  if (trained_.empty()) return out;
  guarded([&] {
    const CNTK::NDArrayViewPtr one = make_view(type_, root_->Shape());
    type_ == CNTK::DataType::kDouble ? one->SetValue(1.0) : one->SetValue(1.0F);
    CNTK::Values gradients;
    for (const auto& [id, variable] : trained_) gradients[variable] = nullptr;
    composite(function_).Backward(state_, {{*root_, make_value(one)}}, gradients);
    for (size_t i = 0; i < out.size(); ++i) {
      const auto id = graph_.find(bound_.trained[i]);
      const auto found = id ? trained_.find(*id) : trained_.end();
      if (found == trained_.end()) continue;
      const Value& value = graph_.value(*id);
      out[i] = Array(type_, value.dtype, value.shape, gradients.at(found->second)->Data());
    }
  });
  return out;
}

}  // namespace tbd::cntk
