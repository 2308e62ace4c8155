#include "graph/arity.h"

#include <algorithm>

namespace tbd {
namespace {

std::string what(const Op& op, size_t i, size_t data) {
  const std::string_view name = rule_of(operand_rules(op), i, data).name;
  return name.empty() ? cat("operand ", i) : std::string(name);
}

void check_types(const Op& op, const Operands& o, size_t data) {
  const auto holds_integers = [&](size_t i) { return is_integer(role(op, i, o.in)); };
  for (size_t i = 0; i < data; ++i)
    if (holds_integers(i))
      require(!is_float(o.in_dtypes[i]), what(op, i, data), " is ", o.in_dtypes[i], ", expected an integer type");
  const Role first = role(op, 0, o.in);
  const bool any_type = is_integer(first) || first == Role::moved || first == Role::any;
  require(any_type || is_float(o.in_dtypes[0]), "operand 0 is ", o.in_dtypes[0], ", expected a float type");
  const PrecisionRule rule = traits(op).precision;
  if (rule == PrecisionRule::keep) return;
  const size_t together = rule == PrecisionRule::low ? o.in.size() : data;
  for (size_t i = 1; i < together; ++i)
    require(holds_integers(i) || o.in_dtypes[i] == o.in_dtypes[0], "operands 0 and ", i,
            " differ in type: ", o.in_dtypes[0], " and ", o.in_dtypes[i]);
}

bool trains(const Graph& graph, ValueId value) {
  return std::ranges::find(graph.trained, value) != graph.trained.end();
}

void check_parameters(const Graph& graph, const BoundNode& node, const Shape& x, size_t data) {
  const std::vector<ParameterSpec> specs = parameters(node.op, x);
  const size_t given = node.inputs.size() - data;
  require(given == specs.size(), "expected ", data, " operands and ", specs.size(), " parameters, got ",
          node.inputs.size(), " in all");
  for (size_t i = 0; i < specs.size(); ++i) {
    const Value& value = graph.value(node.inputs[data + i]);
    require(value.shape == specs[i].shape, specs[i].suffix, " '", value.name, "' is ", value.shape, ", expected ",
            specs[i].shape);
    require(is_float(value.dtype), specs[i].suffix, " '", value.name, "' is ", value.dtype);
    const bool read = !specs[i].moves && value.kind == Value::Kind::parameter;  // another form of the node trains it
    require(!specs[i].buffer || value.kind == Value::Kind::buffer || read, specs[i].suffix, " '", value.name,
            "' must be a buffer");
    require(value.kind != Value::Kind::buffer || specs[i].buffer, specs[i].suffix, " '", value.name,
            "' must not be a buffer");
  }
}

}  // namespace

void check_operands(const Graph& graph, const BoundNode& node) {
  const size_t data = data_operands(node.op, node.inputs.size());
  require(node.inputs.size() >= data, "expected ", data, " operands, got ", node.inputs.size());
  const Operands o = graph.operands(node);
  output_shapes(node.op, Shapes(o.in).first(data));  // a wrong operand is named before a wrong parameter
  check_parameters(graph, node, o.in[0], data);
  check_types(node.op, o, data);
}

void check_trained(const Graph& graph, const BoundNode& node) {
  const size_t data = data_operands(node.op, node.inputs.size());
  const std::vector<ParameterSpec> specs = parameters(node.op, graph.value(node.inputs[0]).shape);
  for (size_t i = 0; i < specs.size(); ++i)
    require(!specs[i].buffer || !trains(graph, node.inputs[data + i]), kind(node.op), " '", node.name,
            "': ", specs[i].suffix, " '", graph.value(node.inputs[data + i]).name,
            "' is trained, but must be a buffer");
}

}  // namespace tbd
