#include <numbers>

#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

using F = Unary::Function;

const char* op_of(F function) {
  switch (function) {
    case F::relu:
      return "Relu";
    case F::leaky_relu:
      return "LeakyRelu";
    case F::sigmoid:
      return "Sigmoid";
    case F::tanh:
      return "Tanh";
    case F::exp:
      return "Exp";
    case F::log:
      return "Log";
    case F::sqrt:
      return "Sqrt";
    case F::square:
      return "Square";
    case F::abs:
      return "Abs";
    case F::neg:
      return "Neg";
    case F::gelu:
    case F::silu:
      break;
  }
  fail(ErrorKind::internal, "unary function without a lowering");
}

const char* op_of(Binary::Function function) {
  using B = Binary::Function;
  switch (function) {
    case B::add:
      return "AddV2";
    case B::sub:
      return "Sub";
    case B::mul:
      return "Mul";
    case B::div:
      return "RealDiv";
  }
  fail(ErrorKind::internal, "binary function without a lowering");
}

// LeakyRelu keeps its slope in single precision: in double, slope x + (1 - slope) relu(x).
TF_Output leaky_relu(double slope, const Args& in) {
  const Operand& x = in[0];
  if (x.dtype != DType::f64) return in.op("LeakyRelu").in(x.output).real("alpha", slope).out();
  const auto scaled = [&](double factor, TF_Output y) {
    return in.binary("Mul", y, in.graph().constant(factor, x.dtype));
  };
  return in.binary("AddV2", scaled(slope, x.output), scaled(1 - slope, in.unary("Relu", x.output)));
}

// x Phi(x) or x sigmoid(x); low types round once, at the end: 1 + erf(x) would cancel in them.
TF_Output gated(F function, const Args& in) {
  const DType dtype = inner_type(in[0].dtype);
  const TF_Output x = in.cast(in[0].output, in[0].dtype, dtype);
  if (function == F::silu) return in.cast(in.binary("Mul", x, in.unary("Sigmoid", x)), dtype, in[0].dtype);
  const TF_Output erf = in.unary("Erf", in.times(x, std::numbers::sqrt2 / 2, dtype));
  const TF_Output doubled = in.binary("AddV2", erf, in.number(1, dtype));  // 2 Phi(x)
  return in.cast(in.binary("Mul", in.times(x, 0.5, dtype), doubled), dtype, in[0].dtype);
}

}  // namespace

Operand lower(const Unary& op, const Args& in) {
  const Operand& x = in[0];
  if (op.function == F::leaky_relu) return {leaky_relu(op.slope, in), x.layout};
  if (op.function == F::gelu || op.function == F::silu) return {gated(op.function, in), x.layout};
  // SqrtGrad has no gradient, Pow has.
  if (op.function == F::sqrt && in.twice())
    return {in.binary("Pow", x.output, in.graph().constant(0.5, x.dtype)), x.layout};
  return {in.unary(op_of(op.function), x.output), x.layout};
}
LoweredAs lowered_as(const Unary& op, size_t) {
  if (op.function == Unary::Function::leaky_relu) return native("LeakyRelu; in fp64 Relu, Mul, AddV2");
  if (op.function == Unary::Function::gelu) return composed("Erf, AddV2, Mul; in fp32 for low types");
  if (op.function == Unary::Function::silu) return composed("Sigmoid, Mul; in fp32 for low types");
  static constexpr const char* kOps[] = {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Exp",
                                         "Log",  "Sqrt",      "Square",  "Abs",  "Neg"};
  return native(kOps[static_cast<size_t>(op.function)]);
}

Operand lower(const Binary& op, const Args& in) {
  const bool images = in[0].layout == Layout::nhwc || in[1].layout == Layout::nhwc;
  const Layout layout = images ? Layout::nhwc : Layout::row;
  return {in.binary(op_of(op.function), in.as(0, layout), in.as(1, layout)), layout};
}
LoweredAs lowered_as(const Binary& op, size_t) {
  static constexpr const char* kOps[] = {"AddV2", "Sub", "Mul", "RealDiv"};
  return native(kOps[static_cast<size_t>(op.function)]);
}

Operand lower(const Affine& op, const Args& in) {
  TF_Output y = in[0].output;
  if (op.factor != 1) y = in.binary("Mul", y, in.graph().constant(op.factor, in[0].dtype));
  if (op.offset != 0) y = in.binary("AddV2", y, in.graph().constant(op.offset, in[0].dtype));
  if (op.factor == 1 && op.offset == 0) y = in.unary("Identity", y);
  return {y, in[0].layout};
}
LoweredAs lowered_as(const Affine& op, size_t) {
  if (op.factor != 1 && op.offset != 0) return composed("Mul, AddV2");
  return native(op.offset != 0 ? "AddV2" : "Mul");
}

Operand lower(const Clamp& op, const Args& in) {
  const Operand& x = in[0];
  return {in.op("ClipByValue").in(x.output).in(in.number(op.low, x.dtype)).in(in.number(op.high, x.dtype)).out(),
          x.layout};
}
LoweredAs lowered_as(const Clamp&, size_t) { return native("ClipByValue"); }

Operand lower(const Greater& op, const Args& in) {
  const Operand& x = in[0];
  const TF_Output above = in.binary("Greater", x.output, in.number(op.value, x.dtype));
  return {in.op("Cast").in(above).type("DstT", x.dtype).out(), x.layout};
}
LoweredAs lowered_as(const Greater&, size_t) { return native("Greater, Cast"); }

// TensorFlow's generator draws in fp32: a low type would shift the probability.
TF_Output dropped(const Args& in, TF_Output x, DType dtype, const Shape& shape, double p, const TF_Output* mask) {
  const TF_Output scaled = in.times(x, 1 / (1 - p), dtype);
  if (mask) return in.binary("Mul", scaled, *mask);
  // Equal seeds draw equal numbers: ops are told apart by their name.
  const uint64_t name = std::hash<std::string>()(in.graph().scope()) | 1;
  const TF_Output u = in.op("RandomUniform")
                          .in(in.graph().constant(shape.extents()))
                          .type("dtype", DType::f32)
                          .integer("seed", static_cast<int64_t>(in.seed()))
                          .integer("seed2", static_cast<int64_t>(name))
                          .out();
  const TF_Output keep = in.binary("GreaterEqual", u, in.number(p, DType::f32));
  return in.op("SelectV2").in(keep).in(scaled).in(in.number(0, dtype)).out();
}

Operand lower(const Dropout& op, const Args& in) {
  const Operand& x = in[0];
  const bool given = in.size() > 1;
  if (op.per_sample) {
    const Shape mask = mask_shape(op, x.shape);  // the same in every layout
    const TF_Output ones = in.op("Fill").in(in.graph().constant(mask.extents())).in(in.number(1, x.dtype)).out();
    const TF_Output factors =
        given ? in.times(in.row(1), 1 / (1 - op.p), x.dtype) : dropped(in, ones, x.dtype, mask, op.p, nullptr);
    return {in.binary("Mul", x.output, factors), x.layout};
  }
  const TF_Output mask = given ? in.as(1, x.layout) : TF_Output{};
  return {dropped(in, x.output, x.dtype, x.physical(), op.p, given ? &mask : nullptr), x.layout};
}
LoweredAs lowered_as(const Dropout&, size_t) {
  return composed("RandomUniform, GreaterEqual, Mul, SelectV2; with a mask Mul");
}

Operand lower(const Cast& op, const Args& in) {
  const Operand& x = in[0];
  return {x.dtype == op.to ? in.unary("Identity", x.output) : in.cast(x.output, x.dtype, op.to), x.layout};
}
LoweredAs lowered_as(const Cast&, size_t) { return native("Cast"); }

// In the first tensor's layout.
Operand lower(const Fusion& op, const Args& in) {
  const Layout layout = in[0].layout;
  const auto count = static_cast<int64_t>(summands(op, in.size()));
  std::vector<TF_Output> terms, shares;
  for (int64_t i = 0; i < count; ++i) terms.push_back(in.as(static_cast<size_t>(i), layout));
  if (!op.plain) {
    const DType dtype = in[0].dtype;
    const TF_Output weight = in.unary("Relu", in.row(terms.size()));
    const int64_t all[] = {0};
    const TF_Output divisor = in.binary("AddV2", in.reduce("Sum", weight, all, true), in.number(op.epsilon, dtype));
    const TF_Output all_shares = in.binary("RealDiv", weight, divisor);
    shares = count == 1 ? std::vector{all_shares} : in.split(all_shares, 0, count);  // no gradient of a Split in one
  }
  for (size_t i = 0; i < shares.size(); ++i) terms[i] = in.binary("Mul", terms[i], shares[i]);
  return {in.op("AddN").list(terms).out(), layout};
}
LoweredAs lowered_as(const Fusion& op, size_t) {
  if (op.plain) return native("AddN");
  return composed("Relu, Sum, RealDiv, Split, Mul, AddN");
}

}  // namespace tbd::tensorflow
