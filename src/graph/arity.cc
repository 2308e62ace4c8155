#include "graph/arity.h"

#include <algorithm>

namespace tbd {
namespace {

template <class... Ops>
bool is_any(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

bool takes_any_type(const Op& op) {
  return is_any<Reshape, StopGradient, HostCall, Cast, Concat, Slice, Transpose, Gather>(op);
}

// What operand i is called where the op wants integers there; empty elsewhere.
std::string_view integer_operand(const Op& op, size_t i, size_t data) {
  if (i == 0) return is_any<Embedding>(op) ? "ids" : is_any<Equals, StridedLength>(op) ? "operand 0" : "";
  if (is_any<CtcLoss>(op)) return i == 2 ? "labels" : i == 1 ? "lengths" : "label lengths";
  if (i > 1) return "";
  if (is_any<SoftmaxCrossEntropy>(op)) return "label";
  if (is_any<Gather>(op)) return "positions";
  return is_any<SequenceMask>(op) || (is_any<Lstm, Gru>(op) && data == 2) ? "lengths" : "";
}

void check_types(const Op& op, const Operands& o, size_t data) {
  for (size_t i = 0; i < data; ++i)
    if (const std::string_view what = integer_operand(op, i, data); !what.empty())
      require(!is_float(o.in_dtypes[i]), what, " is ", o.in_dtypes[i], ", expected an integer type");
  const bool integers = !integer_operand(op, 0, data).empty();
  require(integers || takes_any_type(op) || is_float(o.in_dtypes[0]), "operand 0 is ", o.in_dtypes[0],
          ", expected a float type");
  const PrecisionRule rule = traits(op).precision;
  if (rule == PrecisionRule::keep) return;
  const size_t together = rule == PrecisionRule::low ? o.in.size() : data;
  for (size_t i = 1; i < together; ++i)
    require(!integer_operand(op, i, data).empty() || o.in_dtypes[i] == o.in_dtypes[0], "operands 0 and ", i,
            " differ in type: ", o.in_dtypes[0], " and ", o.in_dtypes[i]);
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
  if (is_any<Concat>(op)) return std::max<size_t>(2, given);
  if (is_any<Dropout>(op)) return std::clamp<size_t>(given, 1, 2);
  if (is_any<SoftmaxCrossEntropy>(op)) return std::clamp<size_t>(given, 2, 3);
  if (is_any<Attention>(op)) return std::clamp<size_t>(given, 3, 5);
  if (is_any<Lstm, Gru>(op)) return has_lengths(given) ? 2 : 1;
  if (is_any<LstmCell>(op)) return 3;
  if (is_any<CtcLoss>(op)) return 4;
  if (is_any<Binary, Matmul, SoftCrossEntropy, SquaredError, InputGradient, Gather, SequenceMask>(op)) return 2;
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
