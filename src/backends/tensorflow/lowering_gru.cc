#include <array>

#include "backends/tensorflow/unrolled.h"

namespace tbd::tensorflow {
namespace {

// Rows of weights and biases: r and z together, then n.
std::array<TF_Output, 2> parted(const Args& in, TF_Output rows, int64_t hidden) {
  const std::vector<int64_t> sizes = {2 * hidden, hidden};
  TF_Operation* const node = in.op("SplitV")
                                 .in(rows)
                                 .in(in.graph().constant(sizes))
                                 .in(in.number(1, DType::i32))
                                 .integer("num_split", 2)
                                 .finish();
  return {{{node, 0}, {node, 1}}};
}

// The parts of x's product and of h's product -> h'.
TF_Output stepped(const Args& in, const std::array<TF_Output, 2>& of_x, const std::array<TF_Output, 2>& of_h,
                  TF_Output h) {
  const std::vector<TF_Output> gates = in.split(in.unary("Sigmoid", in.binary("AddV2", of_x[0], of_h[0])), 1, 2);
  const TF_Output n = in.unary("Tanh", in.binary("AddV2", of_x[1], in.binary("Mul", gates[0], of_h[1])));
  return in.binary("AddV2", n, in.binary("Mul", gates[1], in.binary("Sub", h, n)));
}

}  // namespace

// x (N, T, in), perhaps lengths (N); y (N, T, H), h (N, H). The products with the inputs of all steps are one.
std::vector<Operand> lower(const Gru& op, const Args& in) {
  const Unrolled layer(in, op.hidden, op.reverse);
  const size_t first = layer.first_parameter();
  const auto bias = [&](size_t i) { return in.cast(in.row(first + i), in[0].dtype, layer.inner()); };
  const TF_Output bias_hh = bias(3);
  const TF_Output rows = in.binary("BiasAdd", layer.product(layer.rows(), in.row(first)), bias(2));
  const auto parts = parted(in, rows, op.hidden);
  const auto gates = layer.cut(parts[0], 2 * op.hidden), candidates = layer.cut(parts[1], op.hidden);
  const auto weights = layer.weights(first + 1, 3 * op.hidden);
  TF_Output h = layer.zero();
  std::vector<TF_Output> states(layer.steps());
  for (size_t step = 0; step < layer.steps(); ++step) {
    const size_t t = layer.time(step);
    const TF_Output of_h = in.binary("BiasAdd", layer.product(layer.outer(h), weights[step]), bias_hh);
    states[t] = h = stepped(in, {gates[t], candidates[t]}, parted(in, of_h, op.hidden), h);
  }
  const TF_Output packed = layer.packed(states);
  return {{layer.series(packed)}, {layer.last(states, packed)}};
}

}  // namespace tbd::tensorflow
