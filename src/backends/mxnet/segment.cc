#include "backends/mxnet/segment.h"

namespace tbd::mxnet {
namespace {

std::vector<Symbol> results(Symbol only) { return {std::move(only)}; }
std::vector<Symbol> results(std::vector<Symbol> several) { return several; }

// Symbols of all values that the nodes read or make.
std::vector<Symbol> lower_nodes(const Graph& graph, std::span<const BoundNode> nodes, Constants& constants) {
  std::vector<Symbol> symbols(graph.values.size());
  SharedParts shared;
  for (const BoundNode& node : nodes) {
    for (const ValueId id : node.inputs)
      if (!symbols[index(id)]) symbols[index(id)] = Symbol::variable(graph.value(id).name);
    const Args args(graph, node, symbols, constants, shared);
    std::vector<Symbol> made = std::visit([&](const auto& op) { return results(lower(op, args)); }, node.op);
    for (size_t i = 0; i < made.size(); ++i) symbols[index(node.outputs[i])] = std::move(made[i]);
  }
  return symbols;
}

Symbol one(const std::string& op, const std::string& name, const Symbol& in, const Attributes& attributes = {}) {
  return Symbol::apply(op, name, std::vector{in}, attributes);
}

// Mean and biased variance over all axes but the channels.
Symbol moments_of(const Value& value, const Symbol& x) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < value.shape.rank(); ++axis)
    if (axis != 1) axes.push_back(axis);
  return one("moments", value.name + "/moments", one("BlockGrad", value.name + "/detached", x), {{"axes", text(axes)}});
}

}  // namespace

Segment::Segment(const Graph& graph, std::span<const BoundNode> nodes, const std::vector<Head>& heads,
                 const std::function<Bound(ValueId)>& bound) {
  const std::vector<Symbol> symbols = lower_nodes(graph, nodes, constants_);
  std::vector<Symbol> outputs;
  for (const Head& head : heads) {
    const Value& value = graph.value(head.value);
    const Symbol symbol = symbols[index(head.value)] ? symbols[index(head.value)] : Symbol::variable(value.name);
    first_output_.push_back(outputs.size());
    if (head.moments) {
      const Symbol both = moments_of(value, symbol);
      outputs.insert(outputs.end(), {both.output(0), both.output(1)});
    } else {
      // An output of its own, however often the value is handed out.
      outputs.push_back(one(head.gradient ? "_copy" : "BlockGrad", cat(value.name, "/out", outputs.size()), symbol));
    }
    differentiated_ = differentiated_ || head.gradient;
  }
  first_output_.push_back(outputs.size());

  const Symbol all = Symbol::group(outputs);
  const auto fixed = [&](const std::string& name) { return constants_.contains(name); };
  const auto value_of = [&](const std::string& name) { return bound(graph.find(name).value()); };
  std::vector<Bound> arguments;
  std::vector<Array> auxiliaries;
  for (const std::string& name : all.arguments())
    arguments.push_back(fixed(name) ? Bound{constants_.at(name), {}} : value_of(name));
  for (const std::string& name : all.auxiliaries())
    auxiliaries.push_back(fixed(name) ? constants_.at(name) : value_of(name).value);
  executor_.emplace(all, arguments, auxiliaries);

  // Outputs without a gradient stand behind BlockGrad: what is passed for them is not read.
  for (size_t h = 0; h < heads.size(); ++h)
    for (size_t i = first_output_[h]; i < first_output_[h + 1]; ++i)
      head_gradients_.push_back(heads[h].gradient ? heads[h].gradient : executor_->outputs()[i]);
}

void Segment::backward() {
  if (differentiated_) executor_->backward(head_gradients_);
}

std::vector<Array> Segment::outputs(size_t head) const {
  const auto begin = executor_->outputs().begin();
  return {begin + static_cast<std::ptrdiff_t>(first_output_[head]),
          begin + static_cast<std::ptrdiff_t>(first_output_[head + 1])};
}

}  // namespace tbd::mxnet
