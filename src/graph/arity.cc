#include "graph/arity.h"

#include <algorithm>

namespace tbd {
namespace {

template <class... Ops>
bool is_any(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

bool takes_any_type(const Op& op) { return is_any<Reshape, StopGradient, HostCall, Cast>(op); }

void check_types(const Op& op, const Operands& o, size_t data) {
  require(takes_any_type(op) || is_float(o.in_dtypes[0]), "operand 0 is ", o.in_dtypes[0], ", expected a float type");
  if (is_any<SoftmaxCrossEntropy>(op)) {
    require(!is_float(o.in_dtypes[1]), "label is ", o.in_dtypes[1], ", expected an integer type");
    return;
  }
  const PrecisionRule rule = traits(op).precision;
  const bool equal = rule == PrecisionRule::low || rule == PrecisionRule::match || rule == PrecisionRule::full;
  const size_t together = rule == PrecisionRule::match || rule == PrecisionRule::full ? data : o.in.size();
  for (size_t i = 1; equal && i < together; ++i)
    require(o.in_dtypes[i] == o.in_dtypes[0], "operands 0 and ", i, " differ in type: ", o.in_dtypes[0], " and ",
            o.in_dtypes[i]);
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
    require(!specs[i].buffer || value.kind == Value::Kind::buffer, specs[i].suffix, " '", value.name,
            "' must be a buffer");
    require(value.kind != Value::Kind::buffer || specs[i].buffer, specs[i].suffix, " '", value.name,
            "' must not be a buffer");
  }
}

}  // namespace

size_t data_operands(const Op& op, size_t given) {
  if (is_any<HostCall>(op)) return std::max<size_t>(1, given);
  if (is_any<Dropout>(op)) return std::clamp<size_t>(given, 1, 2);
  if (is_any<Binary, Matmul, SoftmaxCrossEntropy, SquaredError, InputGradient>(op)) return 2;
  return 1;
}

void check_operands(const Graph& graph, const BoundNode& node) {
  const size_t data = data_operands(node.op, node.inputs.size());
  require(node.inputs.size() >= data, "expected ", data, " operands, got ", node.inputs.size());
  const Operands o = graph.operands(node);
  output_shapes(node.op, Shapes(o.in).first(data));  // a wrong operand is named before a wrong parameter
  check_parameters(graph, node, o.in[0], data);
  check_types(node.op, o, data);
}

}  // namespace tbd
