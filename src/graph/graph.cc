#include "graph/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/arity.h"

namespace tbd {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 46;  // above any machine; keeps byte and FLOP counts in 64 bits

// Throws unless every extent is positive and their product is countable.
void check_extents(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape.extents()) {
    require(extent > 0, "extent ", extent, " of ", shape, " is not positive");
    require(extent <= kMostElements / elements, shape, " is larger than any machine");
    elements *= extent;
  }
}

std::vector<Shape> checked_outputs(const Op& op, Shapes in) {
  std::vector<Shape> out = output_shapes(op, in);
  for (const Shape& shape : out) check_extents(shape);
  return out;
}

std::string result_name(const std::string& node, size_t index) { return index == 0 ? node : cat(node, ":", index); }

class Binder {
 public:
  Binder(const Program& program, const Phase& phase, const Bindings& bindings)
      : program_(program), phase_(phase), bindings_(bindings) {
    graph_.phase = phase.name;
  }

  Graph bind() {
    for (const InputSpec& input : phase_.inputs) add_input(input);
    for (const LossTerm& term : phase_.loss) add_norm(term);
    const std::vector<Parameter> none;
    add_used(program_.parameters, Value::Kind::parameter);
    add_used(program_.buffers, Value::Kind::buffer);
    for (const Node& node : phase_.nodes) try {
        add_node(node);
      } catch (const Error& e) {
        throw e.within(cat(kind(node.op), " '", node.name, "'"));
      }
    for (const InputSpec& input : phase_.inputs) resolve(ids_.at(input.name));
    finish();
    return std::move(graph_);
  }

 private:
  ValueId add(Value value) {
    require(!value.name.empty(), "a value has no name");
    const auto id = static_cast<ValueId>(graph_.values.size());
    require(ids_.emplace(value.name, id).second, "the name '", value.name, "' is used twice");
    graph_.values.push_back(std::move(value));
    return id;
  }

  int64_t extent(const Dim& dim) const {
    if (dim.symbol.empty()) return dim.extent;
    for (const Bindings* bindings : {&bindings_, &program_.symbols})
      if (const auto found = bindings->find(dim.symbol); found != bindings->end()) return found->second;
    fail(ErrorKind::invalid, "extent '", dim.symbol, "' is not bound");
  }

  void add_input(const InputSpec& input) try {
    require(input.like.empty() || input.shape.empty(), "has both a shape and 'like'");
    std::vector<int64_t> extents;
    for (const Dim& dim : input.shape) extents.push_back(extent(dim));
    Shape shape(std::move(extents));
    check_extents(shape);
    const ValueId id = add({.name = input.name, .shape = shape, .dtype = input.dtype, .kind = Value::Kind::input});
    if (!input.like.empty()) like_[id] = input.like;
  } catch (const Error& e) {
    throw e.within(cat("input '", input.name, "'"));
  }

  // A scalar of the loss value's type, known when that is.
  void add_norm(const LossTerm& term) {
    const std::string name = cat("norm/", term.name);
    if (!ids_.contains(name)) add({.name = name, .kind = Value::Kind::input});
  }

  void add_used(const std::vector<Parameter>& all, Value::Kind kind) {
    if (used_.empty())
      for (const Node& node : phase_.nodes) used_.insert(node.inputs.begin(), node.inputs.end());
    for (const Parameter& each : all) {
      if (!used_.contains(each.name)) continue;
      try {
        check_extents(each.shape);
      } catch (const Error& e) {
        throw e.within(cat("parameter '", each.name, "'"));
      }
      add({.name = each.name, .shape = each.shape, .dtype = each.dtype, .kind = kind});
    }
  }

  // The shape of the dropout mask of a node that is still to come: an attention whose q, k and v are known, or dropout
  // whose x is.
  Shape mask_shape(const std::string& input, const std::string& reader) const {
    const auto node = std::ranges::find(phase_.nodes, reader, &Node::name);
    const auto* dropout = node == phase_.nodes.end() ? nullptr : std::get_if<Dropout>(&node->op);
    if (dropout && !node->inputs.empty())
      return tbd::mask_shape(*dropout, graph_.value(known(node->inputs[0], reader)).shape);
    const auto* attention = node == phase_.nodes.end() ? nullptr : std::get_if<Attention>(&node->op);
    require(attention && node->inputs.size() >= 3, "input '", input, "' is like '", reader,
            "', which is not known here");
    std::vector<Shape> in;
    for (size_t i = 0; i < 3; ++i) in.push_back(graph_.value(known(node->inputs[i], reader)).shape);
    output_shapes(*attention, in);
    return score_shape(*attention, in);
  }

  // Gives an input its shape when that is another value's.
  void resolve(ValueId id) {
    const auto found = like_.find(id);
    if (found == like_.end()) return;
    Value& input = graph_.values[static_cast<size_t>(id)];
    const auto model = ids_.find(found->second);
    require(model == ids_.end() || !like_.contains(model->second), "input '", input.name, "' is like '", found->second,
            "', which is not known here");
    input.shape = model == ids_.end() ? mask_shape(input.name, found->second) : graph_.value(model->second).shape;
    like_.erase(found);
  }

  std::vector<ValueId> find_operands(const Node& node) {
    std::vector<ValueId> out;
    for (const std::string& name : node.inputs) {
      const auto found = ids_.find(name);
      if (found == ids_.end())
        fail(ErrorKind::invalid, "operand '", name, "' is not an input, parameter, buffer or earlier node");
      resolve(found->second);
      out.push_back(found->second);
    }
    return out;
  }

  void add_node(const Node& node) {
    require(node.name.find(':') == std::string::npos, "a node's name must not hold ':'");
    BoundNode bound = {node.name, node.op, find_operands(node), {}};
    const Operands o = graph_.operands(bound);
    check_operands(graph_, bound);
    const std::vector<Shape> shapes = checked_outputs(node.op, o.in);
    for (size_t i = 0; i < shapes.size(); ++i)
      bound.outputs.push_back(add({.name = result_name(node.name, i),
                                   .shape = shapes[i],
                                   .dtype = output_dtype(node.op, i, o.in_dtypes),
                                   .kind = Value::Kind::result,
                                   .producer = static_cast<int32_t>(graph_.nodes.size())}));
    graph_.nodes.push_back(std::move(bound));
  }

  ValueId known(const std::string& name, std::string_view who) const {
    const auto found = ids_.find(name);
    require(found != ids_.end(), who, " names '", name, "', which does not exist");
    return found->second;
  }

  void finish() {
    for (const LossTerm& term : phase_.loss) {
      const std::string who = cat("loss term '", term.name, "'");
      const ValueId value = known(term.value, who);
      const ValueId norm = ids_.at(cat("norm/", term.name));
      require(graph_.value(value).shape == Shape{} && is_float(graph_.value(value).dtype), who, " needs a scalar, got ",
              graph_.value(value).shape, " ", graph_.value(value).dtype);
      if (std::ranges::find(phase_.inputs, graph_.value(norm).name, &InputSpec::name) == phase_.inputs.end())
        graph_.values[static_cast<size_t>(norm)].dtype = graph_.value(value).dtype;
      require(graph_.value(norm).shape == Shape{} && is_float(graph_.value(norm).dtype), "input '",
              graph_.value(norm).name, "' must be a scalar");
      graph_.loss.push_back({term.name, value, norm});
    }
    for (const auto& [name, value] : phase_.outputs)
      graph_.outputs.emplace_back(name, known(value, cat("output '", name, "'")));
    for (const std::string& name : phase_.wrt()) {
      const ValueId id = known(name, "an update group");
      require(graph_.value(id).kind == Value::Kind::parameter, "an update group names '", name,
              "', which is not a parameter");
      graph_.trained.push_back(id);
    }
    for (const BoundNode& node : graph_.nodes) check_trained(graph_, node);
  }

  const Program& program_;
  const Phase& phase_;
  const Bindings& bindings_;
  Graph graph_;
  std::map<std::string, ValueId, std::less<>> ids_;
  std::map<ValueId, std::string> like_;
  std::set<std::string> used_;
};

}  // namespace

std::optional<ValueId> Graph::find(std::string_view name) const {
  const auto found = std::ranges::find(values, name, &Value::name);
  if (found == values.end()) return std::nullopt;
  return static_cast<ValueId>(found - values.begin());
}

Operands Graph::operands(const BoundNode& node) const {
  Operands o;
  for (const ValueId id : node.inputs) {
    o.in.push_back(value(id).shape);
    o.in_dtypes.push_back(value(id).dtype);
  }
  for (const ValueId id : node.outputs) {
    o.out.push_back(value(id).shape);
    o.out_dtypes.push_back(value(id).dtype);
  }
  return o;
}

int64_t Graph::parameter_count() const {
  int64_t elements = 0;
  for (const Value& value : values)
    if (value.kind == Value::Kind::parameter) elements += value.shape.elements();
  return elements;
}

FlopCount Graph::forward_flops() const {
  FlopCount flops;
  for (const NodeCost& cost : node_costs(*this)) flops += FlopCount(cost.forward.model);
  return flops;
}

Graph bind(const Program& program, const Phase& phase, const Bindings& bindings) try {
  return Binder(program, phase, bindings).bind();
} catch (const Error& e) {
  throw e.within(cat("phase '", phase.name, "'"));
}

Shape infer(const Node& node, Shapes in) try { return checked_outputs(node.op, in).front(); } catch (const Error& e) {
  throw e.within(cat(kind(node.op), " '", node.name, "'"));
}

namespace {

using Bound = Integers::Bound;

void meet(Integers& known, const Integers& other) {
  if (other.bound != Bound::loose && known.bound != Bound::loose) {
    known.range = {std::max(known.range.first, other.range.first), std::min(known.range.last, other.range.last),
                   known.range.besides == other.range.besides ? known.range.besides : std::nullopt};
    known.bound = std::max(known.bound, other.bound);
  } else if (other.bound != Bound::loose) {
    known = other;
  } else if (known.bound == Bound::loose) {
    known.range.last = std::max(known.range.last, other.range.last);
  }
}

}  // namespace

Integers allowed_integers(const Graph& graph, ValueId value) {
  std::vector<Integers> known(graph.values.size());
  const auto at = [](ValueId id) { return static_cast<size_t>(id); };
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const std::vector<Shape> in = graph.operands(*node).in;
    for (size_t i = 0; i < node->inputs.size(); ++i)
      if (!is_float(graph.value(node->inputs[i]).dtype))
        meet(known[at(node->inputs[i])], allowed_integers(node->op, i, in, known[at(node->outputs[0])]));
  }
  return known[at(value)];
}

IntegerRange integer_range(const Graph& graph, ValueId value) { return allowed_integers(graph, value).range; }

}  // namespace tbd
