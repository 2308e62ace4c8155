#include "graph/ops/elementwise.h"

#include <algorithm>

#include "base/text.h"
#include "graph/ops/gradient_writer.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

using F = Unary::Function;

bool transcendental(F f) { return f == F::sigmoid || f == F::tanh || f == F::exp || f == F::log || f == F::sqrt; }

// Of one element, forward. gelu: x c, erf, 1 +, half, times x.
Cost cost_per_element(F f) {
  if (transcendental(f)) return {.trans = 1};
  if (f == F::gelu) return {.simd = 4, .trans = 1};
  if (f == F::silu) return {.simd = 1, .trans = 1};
  return {.simd = f == F::leaky_relu ? 2 : 1};
}

// Simple operations per element of the gradient dy f'(x), written with what forward saved.
int64_t backward_simd(F f) {
  switch (f) {
    case F::sigmoid:
    case F::tanh:
      return 3;          // dy * y * (1 - y); dy * (1 - y * y)
    case F::leaky_relu:  // y > 0 ? dy : dy * slope
    case F::abs:         // dy * sign(x)
    case F::sqrt:
    case F::square:
      return 2;  // dy / (2 * y); dy * 2 * x
    case F::gelu:
      return 9;  // dy * (Phi(x) + x phi(x)): 3, 3 and 3
    case F::silu:
      return 5;  // dy * s * (1 + x * (1 - s)), s = sigmoid(x) again
    default:
      return 1;
  }
}

// gelu: erf and exp; silu: sigmoid.
int64_t backward_trans(F f) { return f == F::gelu ? 2 : f == F::silu ? 1 : 0; }

}  // namespace

std::vector<Shape> output_shapes(const Unary&, Shapes in) { return {in[0]}; }

Cost forward_cost(const Unary& op, const Operands& o) {
  const Cost each = cost_per_element(op.function);
  const int64_t elements = o.in[0].elements();
  return {.simd = each.simd * elements, .trans = each.trans * elements, .bytes = bytes_touched_forward(o)};
}

Cost backward_cost(const Unary& op, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t saved = op.function == F::neg ? 0 : o.in_bytes(0);
  const int64_t elements = o.in[0].elements();
  return {.simd = backward_simd(op.function) * elements,
          .trans = backward_trans(op.function) * elements,
          .bytes = o.out_bytes() + saved + o.in_bytes(0)};
}

namespace {

Traits by_function(const Unary& op) {
  switch (op.function) {
    case F::relu:
    case F::leaky_relu:
    case F::sigmoid:
    case F::tanh:
    case F::exp:
    case F::sqrt:
      return {.saves_output = true, .may_overwrite = {0}};
    case F::log:
    case F::square:
    case F::abs:
    case F::gelu:
    case F::silu:
      return {.saves_inputs = {0}};
    case F::neg:
      return {.may_overwrite = {0}};
  }
  return {};
}

}  // namespace

Traits traits(const Unary& op) {
  Traits out = by_function(op);
  out.rows_from = 0;
  return out;
}
// A vector library is right to a unit or two in the last place; the gradients of sigmoid and tanh subtract from 1.
// gelu multiplies by 1 + erf, which cancels for negative x.
Rounding rounding(const Unary& op, Shapes) { return {op.function == Unary::Function::gelu ? 8.0 : 4.0}; }
// relu: the mask; leaky_relu: slope + (1 - slope) mask; tanh: 1 - y^2.
bool write_gradient(const Unary& op, GradientWriter& node, const std::string& g) {
  if (op.function == F::tanh) {
    const std::string square = node.put(Unary{F::square}, {node.result()});
    node.pass(0, node.mul(g, node.put(Affine{.factor = -1, .offset = 1}, {square})));
    return true;
  }
  if (op.function != F::relu && op.function != F::leaky_relu) return false;
  if (node.counts_memory()) {  // the mask is told by what forward kept
    node.pass(0, node.put(op, {g}));
    return true;
  }
  const std::string mask = node.put(Greater{}, {node.operand(0)});
  const bool leaks = op.function == F::leaky_relu;
  node.pass(0, node.mul(g, leaks ? node.put(Affine{.factor = 1 - op.slope, .offset = op.slope}, {mask}) : mask));
  return true;
}
std::optional<PythonCall> python_call(const Unary& op, const PythonNode& in) {
  const std::string name = kind(op), in_words = op.function == F::neg ? "negative" : name,
                    slope = python_number(op.slope);
  switch (op.function) {
    case F::leaky_relu:
      return in.one_of(cat("F.leaky_relu(x0, ", slope, ")"), cat("tf.nn.leaky_relu(x0, ", slope, ")"),
                       cat("mx.nd.LeakyReLU(x0, slope=", slope, ")"));
    case F::gelu:
      return in.one_of("F.gelu(x0)", "tf.nn.gelu(x0, approximate=False)", "mx.nd.LeakyReLU(x0, act_type='gelu')");
    case F::silu:
      return in.one_of("F.silu(x0)", "tf.nn.silu(x0)", "x0 * mx.nd.sigmoid(x0)");
    default:
      return in.one_of(cat("torch.", name, "(x0)"),
                       cat(op.function == F::relu ? "tf.nn." : "tf.math.", in_words, "(x0)"),
                       cat("mx.nd.", in_words, "(x0)"));
  }
}

std::vector<Shape> output_shapes(const Binary&, Shapes in) {
  require(in.size() == 2, "expected two operands, got ", in.size());
  require(in[0].rank() == in[1].rank(), "ranks of ", in[0], " and ", in[1], " differ");
  Shape y = in[0];
  for (int64_t axis = 0; axis < y.rank(); ++axis) {
    const int64_t a = in[0][axis], b = in[1][axis];
    require(a == b || a == 1 || b == 1, "cannot broadcast ", in[0], " with ", in[1]);
    y[axis] = std::max(a, b);
  }
  return {y};
}

Cost forward_cost(const Binary&, const Operands& o) {
  return {.simd = o.out[0].elements(), .bytes = bytes_touched_forward(o)};
}

// Gradients of add pass as they are; sub negates the second; mul takes one product, div one division for the first and
// -dy * a / (b * b) for the second. A broadcast operand's gradient is summed over the extents it was repeated along.
Cost backward_cost(const Binary& op, const Operands& o) {
  using B = Binary::Function;
  Cost cost;
  for (const size_t input : {0u, 1u}) {
    if (!o.needs(input)) continue;
    int64_t steps = 0, read = o.out_bytes();
    if (op.function == B::sub) steps = input == 1;
    if (op.function == B::mul) {
      steps = 1;
      read += o.in_bytes(1 - input);
    }
    if (op.function == B::div) {
      steps = input == 0 ? 1 : 4;
      read += o.in_bytes(1) + (input == 1 ? o.in_bytes(0) : 0);
    }
    if (o.in[input] != o.out[0]) ++steps;
    if (steps > 0) cost += {.simd = steps * o.out[0].elements(), .bytes = read + o.in_bytes(input)};
  }
  return cost;
}

Traits traits(const Binary& op) {
  const bool adds = op.function == Binary::Function::add;
  if (adds || op.function == Binary::Function::sub)
    return {.may_overwrite = {0, 1}, .passes_gradient = adds, .precision = PrecisionRule::match};
  return {.saves_inputs = {0, 1}, .precision = PrecisionRule::match};
}
// An operand that is repeated gets the sum of its copies' gradients.
Rounding rounding(const Binary& op, Shapes in) {
  const int64_t smaller = std::max<int64_t>(1, std::min(in[0].elements(), in[1].elements()));
  return {1, output_shapes(op, in)[0].elements() / smaller};
}
bool write_gradient(const Binary& op, GradientWriter& node, const std::string& g) {
  const bool added = op.function == Binary::Function::add, taken = op.function == Binary::Function::sub;
  if (!(added || taken) || node.shape(0) != node.shape(1)) return false;
  node.pass(0, g);
  if (node.wants(1)) node.pass(1, added ? g : node.put(Affine{.factor = -1}, {g}));
  return true;
}
std::optional<PythonCall> python_call(const Binary& op, const PythonNode& in) {
  constexpr const char* kSymbols[] = {"x0 + x1", "x0 - x1", "x0 * x1", "x0 / x1"};
  const char* infix = kSymbols[static_cast<size_t>(op.function)];
  return in.one_of(infix, infix, cat("mx.nd.broadcast_", kind(op), "(x0, x1)"));
}

std::vector<Shape> output_shapes(const Affine&, Shapes in) { return {in[0]}; }
Cost forward_cost(const Affine& op, const Operands& o) {
  const int64_t steps = (op.factor != 1) + (op.offset != 0);
  return {.simd = steps * o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Affine& op, const Operands& o) {
  if (!o.needs(0)) return {};
  if (op.factor == 1) return {};  // the gradient passes as it is
  return {.simd = o.in[0].elements(), .bytes = o.out_bytes() + o.in_bytes(0)};
}
Traits traits(const Affine&) { return {.may_overwrite = {0}}; }
Rounding rounding(const Affine&, Shapes) { return {1}; }
bool write_gradient(const Affine& op, GradientWriter& node, const std::string& g) {
  node.pass(0, op.factor == 1 ? g : node.put(Affine{.factor = op.factor}, {g}));
  return true;
}
std::optional<PythonCall> python_call(const Affine& op, const PythonNode&) {
  return PythonCall{cat(python_number(op.factor), " * x0 + ", python_number(op.offset))};
}

std::vector<Shape> output_shapes(const Dropout& op, Shapes in) {
  require(op.p >= 0 && op.p < 1, "p=", op.p, " is outside [0, 1)");
  require(!op.per_sample || in[0].rank() > 0, "a scalar has no samples");
  const Shape mask = mask_shape(op, in[0]);
  require(in.size() < 2 || in[1] == mask, "mask is ", in.size() < 2 ? mask : in[1], ", expected ", mask);
  return {in[0]};
}
Shape mask_shape(const Dropout& op, const Shape& x) {
  if (!op.per_sample) return x;
  std::vector<int64_t> extents(static_cast<size_t>(x.rank()), 1);
  extents[0] = x[0];
  return Shape(std::move(extents));
}
// The mask over 1 - p, and its product with x.
Cost forward_cost(const Dropout& op, const Operands& o) {
  return {.simd = mask_shape(op, o.in[0]).elements() + o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
// The mask is scaled once, forward. A mask that the framework draws is no operand.
Cost backward_cost(const Dropout&, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t mask = o.in.size() > 1 ? o.in_bytes(1) : 0;
  return {.simd = o.in[0].elements(), .bytes = o.out_bytes() + mask + o.in_bytes(0)};
}
int64_t kept_bytes(const Dropout& op, const Operands& o) {
  return o.in.size() < 2 ? mask_shape(op, o.in[0]).elements() * size_of(o.in_dtypes[0]) : 0;
}
Traits traits(const Dropout&) { return {.saves_inputs = {1}, .precision = PrecisionRule::match}; }
Rounding rounding(const Dropout&, Shapes) { return {1}; }
std::optional<PythonCall> python_call(const Dropout& op, const PythonNode& in) {
  const std::string rest = cat(" / (1 - ", python_number(op.p), ")");
  if (op.per_sample)
    return in.one_of(cat("x0 * (x1", rest, ")"), cat("x0 * (x1", rest, ")"),
                     cat("mx.nd.broadcast_mul(x0, x1", rest, ")"));
  return PythonCall{cat("x0 * x1", rest)};
}

std::vector<Shape> output_shapes(const Cast&, Shapes in) { return {in[0]}; }
Cost forward_cost(const Cast&, const Operands& o) { return {.bytes = bytes_touched_forward(o)}; }
Cost backward_cost(const Cast&, const Operands& o) {
  return o.needs(0) ? Cost{.bytes = o.out_bytes() + o.in_bytes(0)} : Cost{};
}
Traits traits(const Cast&) { return {.rows_from = 0}; }
Rounding rounding(const Cast&, Shapes) { return {1}; }
bool write_gradient(const Cast&, GradientWriter& node, const std::string& g) {
  node.pass(0, node.put(Cast{node.type(0)}, {g}));
  return true;
}

}  // namespace tbd
