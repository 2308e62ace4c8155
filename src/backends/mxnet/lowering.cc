#include "backends/mxnet/lowering.h"

#include <algorithm>

namespace tbd::mxnet {

bool Args::used(size_t result) const {
  const ValueId id = node_.outputs[result];
  const auto reads = [&](const BoundNode& node) { return std::ranges::find(node.inputs, id) != node.inputs.end(); };
  return std::ranges::any_of(graph_.nodes, reads) ||
         std::ranges::any_of(graph_.loss, [&](const BoundTerm& term) { return term.value == id; }) ||
         std::ranges::any_of(graph_.outputs, [&](const auto& output) { return output.second == id; });
}

std::vector<const BoundNode*> Args::readers(size_t operand) const {
  std::vector<const BoundNode*> out;
  for (const BoundNode& node : graph_.nodes)
    if (std::ranges::find(node.inputs, node_.inputs[operand]) != node.inputs.end()) out.push_back(&node);
  return out;
}

Symbol Args::op(const std::string& op, const std::vector<Symbol>& in, const Attributes& attributes) const {
  return Symbol::apply(op, node_.name, in, attributes);
}

Symbol Args::part(const std::string& suffix, const std::string& op, const std::vector<Symbol>& in,
                  const Attributes& attributes) const {
  return Symbol::apply(op, cat(node_.name, "/", suffix), in, attributes);
}

Symbol Args::constant(const std::string& suffix, const Shape& shape, const std::vector<double>& values,
                      std::optional<DType> dtype) const {
  const std::string name = cat(node_.name, "/", suffix);
  const Array array(dtype.value_or(graph_.value(node_.inputs[0]).dtype), shape);
  array.set(HostTensor(DType::f64, shape, std::span<const double>(values)));
  constants_[name] = array;
  return Symbol::variable(name);
}

Symbol Args::filled(const std::string& suffix, const Shape& shape, double value) const {
  return constant(suffix, shape, std::vector<double>(static_cast<size_t>(shape.elements()), value));
}

Symbol Args::shared(const std::string& key, const std::function<Symbol()>& make) const {
  Symbol& symbol = shared_[key];
  if (!symbol) symbol = make();
  return symbol;
}

const char* type_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::i64:
      return "int64";
    case DType::i32:
      return "int32";
    case DType::u8:
      return "uint8";
    default:
      fail(ErrorKind::unsupported, "mxnet's CPU kernels do not run in ", dtype);
  }
}

std::string shape_text(const Shape& shape) {
  const int64_t one[] = {1};
  return text(shape.rank() == 0 ? std::span<const int64_t>(one) : shape.extents());
}

Symbol padded(const Args& in, const Pads& pads, double value) {
  const int64_t widths[] = {0, 0, 0, 0, pads.top, pads.bottom, pads.left, pads.right};
  return in.part("pad", "Pad", {in[0]},
                 {{"mode", "constant"}, {"pad_width", text(widths)}, {"constant_value", text(value)}});
}

}  // namespace tbd::mxnet
