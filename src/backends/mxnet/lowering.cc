#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {

Symbol Args::op(const std::string& op, std::initializer_list<Symbol> in, const Attributes& attributes) const {
  return Symbol::apply(op, node_.name, std::vector(in), attributes);
}

Symbol Args::part(const std::string& suffix, const std::string& op, std::initializer_list<Symbol> in,
                  const Attributes& attributes) const {
  return Symbol::apply(op, cat(node_.name, "/", suffix), std::vector(in), attributes);
}

Symbol Args::constant(const std::string& suffix, const Shape& shape, const std::vector<double>& values) const {
  const std::string name = cat(node_.name, "/", suffix);
  const Array array(graph_.value(node_.inputs[0]).dtype, shape);
  array.set(HostTensor(DType::f64, shape, std::span<const double>(values)));
  constants_[name] = array;
  return Symbol::variable(name);
}

Symbol Args::filled(const std::string& suffix, const Shape& shape, double value) const {
  return constant(suffix, shape, std::vector<double>(static_cast<size_t>(shape.elements()), value));
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
