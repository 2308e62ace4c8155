#include <cmath>
#include <numbers>

#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {
namespace {

// LeakyReLU multiplies in single precision whatever its operand's type: in double, slope x + (1 - slope) relu(x).
Symbol leaky_relu(double slope, const Args& in) {
  if (in.dtype(0) != DType::f64) return in.op("LeakyReLU", {in[0]}, {{"act_type", "leaky"}, {"slope", text(slope)}});
  const Symbol line = in.part("line", "_mul_scalar", {in[0]}, with_scalar(slope));
  const Symbol above = in.part("above", "relu", {in[0]});
  return in.op("elemwise_add", {line, in.part("rest", "_mul_scalar", {above}, with_scalar(1 - slope))});
}

// The gradient of `erf` holds the square root of pi in single precision: a term that is zero has the rest of it.
Symbol exact_erf(const Symbol& x, const Args& in) {
  const double rounded = std::sqrt(std::numbers::pi_v<float>), exact = std::sqrt(std::numbers::pi);
  const Symbol value = in.part("erf", "erf", {x});
  const Symbol zero = in.part("zero", "elemwise_sub", {value, in.part("erf/fixed", "BlockGrad", {value})});
  const Symbol rest = in.part("rest", "_mul_scalar", {zero}, with_scalar(rounded / exact - 1));
  return in.part("erf/exact", "elemwise_add", {value, rest});
}

// x (1 + erf(x / sqrt(2))) / 2. LeakyReLU's gelu is that form too, in single precision whatever its operand's type.
Symbol gelu(const Args& in) {
  if (in.dtype(0) != DType::f64) return in.op("LeakyReLU", {in[0]}, {{"act_type", "gelu"}});
  const Symbol scaled = in.part("scaled", "_mul_scalar", {in[0]}, with_scalar(1 / std::numbers::sqrt2));
  const Symbol twice = in.part("twice", "_plus_scalar", {exact_erf(scaled, in)}, with_scalar(1));
  return in.op("elemwise_mul", {in.part("half", "_mul_scalar", {in[0]}, with_scalar(0.5)), twice});
}

Symbol silu(const Args& in) {
  return in.op("elemwise_mul", {in[0], in.part("sigmoid", "Activation", {in[0]}, {{"act_type", "sigmoid"}})});
}

}  // namespace

Symbol lower(const Unary& op, const Args& in) {
  using F = Unary::Function;
  switch (op.function) {
    case F::relu:
      return in.op("Activation", {in[0]}, {{"act_type", "relu"}});
    case F::leaky_relu:
      return leaky_relu(op.slope, in);
    case F::sigmoid:
      return in.op("Activation", {in[0]}, {{"act_type", "sigmoid"}});
    case F::tanh:
      return in.op("Activation", {in[0]}, {{"act_type", "tanh"}});
    case F::exp:
      return in.op("exp", {in[0]});
    case F::log:
      return in.op("log", {in[0]});
    case F::sqrt:
      return in.op("sqrt", {in[0]});
    case F::square:
      return in.op("square", {in[0]});
    case F::abs:
      return in.op("abs", {in[0]});
    case F::neg:
      return in.op("negative", {in[0]});
    case F::gelu:
      return gelu(in);
    case F::silu:
      return silu(in);
  }
  fail(ErrorKind::internal, "unary function without a lowering");
}
LoweredAs lowered_as(const Unary& op, size_t) {
  using F = Unary::Function;
  switch (op.function) {
    case F::relu:
    case F::sigmoid:
    case F::tanh:
      return native(cat("Activation ", kind(op)));
    case F::leaky_relu:
      return native("LeakyReLU leaky; in fp64 relu, _mul_scalar, elemwise_add");
    case F::neg:
      return native("negative");
    case F::gelu:
      return native("LeakyReLU gelu; in fp64 erf, elemwise_sub, elemwise_add, _mul_scalar, _plus_scalar, elemwise_mul");
    case F::silu:
      return composed("Activation sigmoid, elemwise_mul");
    default:
      return native(kind(op));
  }
}

namespace {

// Whether an image (N, C, H, W) is multiplied by one number a channel, (1, C, 1, 1).
bool scales_channels(const Binary& op, const Args& in) {
  const Shape &x = in.shape(0), &y = in.shape(1);
  return op.function == Binary::Function::mul && in.dtype(0) == DType::f32 && x.rank() == 4 && x != y &&
         y == Shape{1, x[1], 1, 1};
}

// Whether each image of (N, C, H, W) has its own number a channel, (N, C, 1, 1).
bool scales_images(const Binary& op, const Args& in) {
  const Shape &x = in.shape(0), &y = in.shape(1);
  return op.function == Binary::Function::mul && x.rank() == 4 && x != y && y == Shape{x[0], x[1], 1, 1};
}

// As many products of a number and a row: three fifths of the time of broadcast_mul and its gradients.
Symbol scaled_images(const Args& in) {
  const Shape& x = in.shape(0);
  const int64_t channels = x[0] * x[1], pixels = x[2] * x[3];
  const Symbol rows = in.part("rows", "Reshape", {in[0]}, to_shape({channels, 1, pixels}));
  const Symbol factors = in.part("factors", "Reshape", {in[1]}, to_shape({channels, 1, 1}));
  return in.op("Reshape", {in.part("product", "batch_dot", {factors, rows})}, to_shape(x));
}

}  // namespace

Symbol lower(const Binary& op, const Args& in) {
  using B = Binary::Function;
  if (scales_channels(op, in)) {
    const Shape channels = {in.shape(0)[1]};
    const Symbol weight = in.part("channels", "Reshape", {in[1]}, to_shape(channels));
    return scaled_per_channel(in, in.shape(0), in[0], weight, in.filled("bias", channels, 0));
  }
  if (scales_images(op, in)) return scaled_images(in);
  const bool equal = in.shape(0) == in.shape(1);
  const auto either = [&](const char* elementwise, const char* broadcast) {
    return in.op(equal ? elementwise : broadcast, {in[0], in[1]});
  };
  switch (op.function) {
    case B::add:
      return either("elemwise_add", "broadcast_add");
    case B::sub:
      return either("elemwise_sub", "broadcast_sub");
    case B::mul:
      return either("elemwise_mul", "broadcast_mul");
    case B::div:
      return either("elemwise_div", "broadcast_div");
  }
  fail(ErrorKind::internal, "binary function without a lowering");
}
LoweredAs lowered_as(const Binary& op, size_t) {
  const bool mul = op.function == Binary::Function::mul;
  return native(cat("elemwise_", kind(op), " or broadcast_", kind(op),
                    mul ? "; BatchNorm of channels in fp32, batch_dot of images" : ""));
}

Symbol lower(const Affine& op, const Args& in) {
  if (op.offset == 0) return in.op("_mul_scalar", {in[0]}, with_scalar(op.factor));
  if (op.factor == 1) return in.op("_plus_scalar", {in[0]}, with_scalar(op.offset));
  const Symbol product = in.part("product", "_mul_scalar", {in[0]}, with_scalar(op.factor));
  return in.op("_plus_scalar", {product}, with_scalar(op.offset));
}
LoweredAs lowered_as(const Affine& op, size_t) {
  if (op.factor != 1 && op.offset != 0) return composed("_mul_scalar, _plus_scalar");
  return native(op.offset != 0 ? "_plus_scalar" : "_mul_scalar");
}

// clip keeps its bounds in single precision.
Symbol lower(const Clamp& op, const Args& in) {
  if (in.dtype(0) == DType::f32) return in.op("clip", {in[0]}, {{"a_min", text(op.low)}, {"a_max", text(op.high)}});
  return in.op("_minimum_scalar", {in.part("above", "_maximum_scalar", {in[0]}, with_scalar(op.low))},
               with_scalar(op.high));
}
LoweredAs lowered_as(const Clamp&, size_t) { return native("clip; in fp64 _maximum_scalar, _minimum_scalar"); }

Symbol lower(const Greater& op, const Args& in) { return in.op("_greater_scalar", {in[0]}, with_scalar(op.value)); }
LoweredAs lowered_as(const Greater&, size_t) { return native("_greater_scalar"); }

namespace {

// One factor for each sample.
Symbol dropped_samples(const Dropout& op, const Args& in) {
  const Shape mask = mask_shape(op, in.shape(0));
  const Symbol factors = in.size() > 1 ? in.part("scaled", "_mul_scalar", {in[1]}, with_scalar(1 / (1 - op.p)))
                                       : in.part("drawn", "Dropout", {in.filled("ones", mask, 1)}, {{"p", text(op.p)}});
  return in.op("broadcast_mul", {in[0], factors});
}

}  // namespace

// Without a mask operand MXNet's generator draws.
Symbol lower(const Dropout& op, const Args& in) {
  if (op.per_sample) return dropped_samples(op, in);
  if (in.size() < 2) return in.op("Dropout", {in[0]}, {{"p", text(op.p)}});
  const Symbol kept = in.part("kept", "elemwise_mul", {in[0], in[1]});
  return in.op("_mul_scalar", {kept}, with_scalar(1 / (1 - op.p)));
}
LoweredAs lowered_as(const Dropout& op, size_t) {
  if (op.per_sample) return composed("Dropout of ones, broadcast_mul; with a mask _mul_scalar, broadcast_mul");
  return native("Dropout; with a mask composed of elemwise_mul, _mul_scalar");
}

// The shares times the stacked tensors as one product, (1, k) (k, E).
Symbol lower(const Fusion& op, const Args& in) {
  const size_t count = summands(op, in.size());
  std::vector<Symbol> all;
  for (size_t i = 0; i < count; ++i) all.push_back(in[i]);
  const Attributes many = {{"num_args", std::to_string(count)}};
  if (op.plain) return in.op("add_n", all, many);
  const auto rows = static_cast<int64_t>(count);
  const Symbol weight = in.part("weight", "Activation", {in[count]}, {{"act_type", "relu"}});
  const Symbol sum = in.part("sum", "sum", {weight}, {{"keepdims", "True"}});
  const Symbol divisor = in.part("divisor", "_plus_scalar", {sum}, with_scalar(op.epsilon));
  const Symbol shares = in.part("shares", "broadcast_div", {weight, divisor});
  const Symbol row = in.part("row", "Reshape", {shares}, to_shape({1, rows}));
  const Symbol stacked = in.part("stack", "stack", all, {{"axis", "0"}, many[0]});
  const Symbol table = in.part("table", "Reshape", {stacked}, to_shape({rows, in.out().elements()}));
  return in.op("Reshape", {in.part("product", "dot", {row, table})}, to_shape(in.out()));
}
LoweredAs lowered_as(const Fusion& op, size_t) {
  return op.plain ? native("add_n") : composed("Activation relu, sum, broadcast_div, stack, dot");
}

}  // namespace tbd::mxnet
