#include <array>

#include "backends/tensorflow/unrolled.h"

namespace tbd::tensorflow {
namespace {

// What a step needs of a product with a weight: the rows of r and z together, and those of n.
using Parts = std::array<TF_Output, 2>;

class Gates {
 public:
  Gates(const Args& in, int64_t hidden)
      : in_(in), sizes_(in.graph().constant(std::vector{2 * hidden, hidden})), axis_(in.number(1, DType::i32)) {}

  Parts parted(TF_Output rows) const {
    TF_Operation* const node = in_.op("SplitV").in(rows).in(sizes_).in(axis_).integer("num_split", 2).finish();
    return {{{node, 0}, {node, 1}}};
  }
  // h' = n + z (h - n).
  TF_Output step(const Parts& of_x, const Parts& of_h, TF_Output h) const {
    const auto gates = in_.split(in_.unary("Sigmoid", in_.binary("AddV2", of_x[0], of_h[0])), 1, 2);
    const TF_Output n = in_.unary("Tanh", in_.binary("AddV2", of_x[1], in_.binary("Mul", gates[0], of_h[1])));
    return in_.binary("AddV2", n, in_.binary("Mul", gates[1], in_.binary("Sub", h, n)));
  }

 private:
  const Args& in_;
  TF_Output sizes_, axis_;
};

}  // namespace

// x (N, T, in), perhaps lengths (N); y (N, T, H), h (N, H). The products with the inputs of all steps are one.
std::vector<Operand> lower(const Gru& op, const Args& in) {
  const Unrolled layer(in, op.hidden, op.reverse);
  const size_t first = layer.first_parameter();  // weight_ih, weight_hh, bias_ih, bias_hh
  const auto bias = [&](size_t i) { return in.cast(in.row(first + i), in[0].dtype, layer.inner()); };
  const TF_Output bias_hh = bias(3);
  const Gates gates(in, op.hidden);
  const Parts of_x = gates.parted(in.binary("BiasAdd", layer.product(layer.rows(), in.row(first)), bias(2)));
  const auto resets = layer.cut(of_x[0], 2 * op.hidden), candidates = layer.cut(of_x[1], op.hidden);
  const auto weights = layer.weights(first + 1, 3 * op.hidden);
  TF_Output h = layer.zero();
  std::vector<TF_Output> states(layer.steps());
  for (size_t step = 0; step < layer.steps(); ++step) {
    const size_t t = layer.time(step);
    const TF_Output of_h = in.binary("BiasAdd", layer.product(layer.outer(h), weights[step]), bias_hh);
    states[t] = h = gates.step({resets[t], candidates[t]}, gates.parted(of_h), h);
  }
  const TF_Output packed = layer.packed(states);
  return {{layer.series(packed)}, {layer.last(states, packed)}};
}
LoweredAs lowered_as(const Gru& op, size_t) {
  const char* reversed = op.reverse ? "with lengths ReverseSequence, " : "";
  return composed(cat(reversed, "MatMul of all steps' inputs; each step MatMul, BiasAdd, Sigmoid, Tanh, Mul, AddV2"));
}

}  // namespace tbd::tensorflow
