#include "runner/equivalence/tolerance.h"

#include <algorithm>
#include <cmath>

namespace tbd {
namespace {

// c is about four times what PyTorch shows against its own float64 over tests/op_cases.cc in fp32 and bf16, at
// least the one rounding that every result has, and more where its line says why.
struct Rule {
  double c;
  int64_t reduction = 1;
};

int64_t positions(const Shape& x) {  // of (N, C, ...): all but the channels
  return x.elements() / std::max<int64_t>(1, x[1]);
}

// One product and one sum per term. The gradient of a bias is a plain sum over all positions, term after term in some
// kernels: its partial sums round, and they can be larger than the result and than what moving its terms does to it.
// Over the 10,368 positions of Deep Speech 2's first layer, whose gradients nearly cancel, PyTorch shows a c of 1.8.
Rule rule(const Conv2d& op, Shapes in) {
  const int64_t taps = op.kernel.h * op.kernel.w;
  return {op.bias ? 7.0 : 1.0,
          std::max({in[0][1] / op.groups * taps, op.out / op.groups * taps, positions(output_shapes(op, in)[0])})};
}
Rule rule(const ConvTranspose2d& op, Shapes in) {
  const int64_t taps = op.kernel.h * op.kernel.w;
  return {1, std::max({in[0][1] * taps, op.out * taps, positions(in[0])})};
}
Rule rule(const Linear& op, Shapes in) {
  return {1, std::max({in[0].back(), op.out, in[0].elements() / std::max<int64_t>(1, in[0].back())})};
}
Rule rule(const Matmul&, Shapes in) {
  const auto side = [](const Shape& x) { return std::max(x[x.rank() - 1], x[x.rank() - 2]); };
  return {1, std::max(side(in[0]), side(in[1]))};
}

// The root and the scale round after the sums; the gradient subtracts two means of the upstream gradient.
Rule rule(const BatchNorm&, Shapes in) { return {3, positions(in[0])}; }
Rule rule(const GroupNorm& op, Shapes in) {
  return {3, std::max(in[0].elements() / in[0][0] / op.groups, positions(in[0]))};
}
int64_t last_axis_or_rows(const Shape& x) { return std::max(x.back(), x.elements() / x.back()); }
Rule rule(const LayerNorm&, Shapes in) { return {3, last_axis_or_rows(in[0])}; }
Rule rule(const RmsNorm&, Shapes in) { return {3, last_axis_or_rows(in[0])}; }

// An exponential and a quotient; the gradient subtracts a sum from each term of it.
Rule rule(const Softmax&, Shapes in) { return {6, in[0].back()}; }

// A maximum is exact; its gradient adds up where windows overlap.
Rule rule(const MaxPool& op, Shapes) { return {1, op.kernel.h * op.kernel.w}; }
Rule rule(const AvgPool& op, Shapes) { return {1, op.kernel.h * op.kernel.w}; }
Rule rule(const GlobalMean&, Shapes in) { return {1, in[0][2] * in[0][3]}; }

// A vector library is right to a unit or two in the last place; the gradients of sigmoid and tanh subtract from 1.
// gelu multiplies by 1 + erf, which cancels for negative x.
Rule rule(const Unary& op, Shapes) { return {op.function == Unary::Function::gelu ? 8.0 : 4.0}; }
// An operand that is repeated gets the sum of its copies' gradients.
Rule rule(const Binary& op, Shapes in) {
  const int64_t smaller = std::max<int64_t>(1, std::min(in[0].elements(), in[1].elements()));
  return {1, output_shapes(op, in)[0].elements() / smaller};
}
Rule rule(const Affine&, Shapes) { return {1}; }
Rule rule(const Clamp&, Shapes) { return {1}; }
Rule rule(const UpsampleNearest& op, Shapes) { return {1, op.factor * op.factor}; }
Rule rule(const Dropout&, Shapes) { return {1}; }
Rule rule(const Cast&, Shapes) { return {1}; }

// Nothing is computed: exact.
Rule rule(const Equals&, Shapes) { return {0}; }
Rule rule(const Greater&, Shapes) { return {0}; }
Rule rule(const StridedLength&, Shapes) { return {0}; }
Rule rule(const SequenceMask&, Shapes) { return {0}; }
Rule rule(const Reshape&, Shapes) { return {0}; }
Rule rule(const Concat&, Shapes) { return {0}; }
Rule rule(const Slice&, Shapes) { return {0}; }
Rule rule(const Transpose&, Shapes) { return {0}; }
Rule rule(const StopGradient&, Shapes) { return {0}; }
Rule rule(const HostCall&, Shapes) { return {0}; }

// The result is exact; the gradient of a row adds up the places where it is taken, all of them at most.
Rule rule(const Gather&, Shapes in) { return {1, in[1][1]}; }
Rule rule(const Embedding&, Shapes in) { return {1, in[0].elements()}; }

// A constant, rounded once. Two products and a sum of two with such constants.
Rule rule(const Sinusoid&, Shapes) { return {1}; }
Rule rule(const Rotary&, Shapes) { return {3}; }

// Scores, a softmax, whose exponentials magnify the rounding of the scores, and sums over keys; the gradient of a key
// adds up the queries of every head that reads it.
Rule rule(const Attention& op, Shapes in) {
  const int64_t head = in[0].back() / op.heads, readers = op.heads / op.key_heads();
  return {6, std::max({head, in[1][1], in[0][1] * readers})};
}

// Gates round as sigmoid and tanh do, and every step rounds the state that it hands on; the gradient of a weight adds
// up steps and samples.
Rule rule(const Lstm& op, Shapes in) {
  return {4, std::max({in[0][2] + op.hidden, 4 * op.hidden, in[0][0] * in[0][1]})};
}
Rule rule(const Gru& op, Shapes in) {
  return {4, std::max({in[0][2] + op.hidden, 3 * op.hidden, in[0][0] * in[0][1]})};
}
Rule rule(const LstmCell& op, Shapes in) { return {4, std::max({in[0][1] + op.hidden, 4 * op.hidden, in[0][0]})}; }

Rule rule(const Reduce& op, Shapes in) {
  return {1, in[0].elements() / std::max<int64_t>(1, output_shapes(op, in)[0].elements())};
}
// A sum over rows; the gradient is the exponential of a rounded logarithm, which magnifies the rounding by |log p|.
Rule rule(const SoftmaxCrossEntropy&, Shapes in) { return {4, in[0].elements()}; }
Rule rule(const SoftCrossEntropy&, Shapes in) { return {4, in[0].elements()}; }
// Each step rounds the logarithm that it hands on, whose exponential magnifies that; a class gathers the states of its
// labels.
Rule rule(const CtcLoss&, Shapes in) { return {8, in[0].elements() * (2 * in[2][1] + 1)}; }
Rule rule(const SquaredError&, Shapes in) { return {1, in[0].elements()}; }
// As many roundings as the ops between y and x have, forward, backward and backward again.
Rule rule(const InputGradient&, Shapes in) { return {4, in[1].elements()}; }

Rule rule_of(const Op& op, Shapes in) {
  return std::visit([&](const auto& concrete) { return rule(concrete, in); }, op);
}

// A cast rounds to the coarser of both types.
double epsilon_of(const Op& op, DType dtype) {
  const auto* cast = std::get_if<Cast>(&op);
  return cast && is_float(cast->to) ? std::max(epsilon(dtype), epsilon(cast->to)) : epsilon(dtype);
}

}  // namespace

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::ldexp(1.0, -52);
    case DType::f32:
      return std::ldexp(1.0, -23);
    case DType::bf16:
      return std::ldexp(1.0, -7);
    case DType::f16:
      return std::ldexp(1.0, -10);
    default:
      fail(ErrorKind::invalid, "no tolerance for values of type ", dtype);
  }
}

int64_t reduction_length(const Op& op, Shapes in) { return std::max<int64_t>(1, rule_of(op, in).reduction); }

double tolerance(const Op& op, Shapes in, DType dtype) {
  return rule_of(op, in).c * epsilon_of(op, dtype) * std::sqrt(static_cast<double>(reduction_length(op, in)));
}

}  // namespace tbd
