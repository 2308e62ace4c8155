#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

using F = Unary::Function;
using B = Binary::Function;

const char* op_of(F function) {
  switch (function) {
    case F::relu:
      return "ReLU";
    case F::leaky_relu:
      return "LeakyReLU";
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
      return "Negate";
    case F::silu:
      return "Sigmoid, ElementTimes";
    case F::gelu:
      return "";
  }
  return "";
}

CNTK::Variable apply(const Unary& op, const CNTK::Variable& x, const Args& in) {
  switch (op.function) {
    case F::relu:
      return CNTK::ReLU(x, in.name());
    case F::leaky_relu:
      return CNTK::LeakyReLU(x, op.slope, in.name());
    case F::sigmoid:
      return CNTK::Sigmoid(x, in.name());
    case F::tanh:
      return CNTK::Tanh(x, in.name());
    case F::exp:
      return CNTK::Exp(x, in.name());
    case F::log:
      return CNTK::Log(x, in.name());
    case F::sqrt:
      return CNTK::Sqrt(x, in.name());
    case F::square:
      return CNTK::Square(x, in.name());
    case F::abs:
      return CNTK::Abs(x, in.name());
    case F::neg:
      return CNTK::Negate(x, in.name());
    case F::silu:
      return CNTK::ElementTimes(x, CNTK::Variable(CNTK::Sigmoid(x, L"")), in.name());
    case F::gelu:
      break;
  }
  fail(ErrorKind::unsupported, "cntk has no gelu");
}

CNTK::Variable apply(B function, const CNTK::Variable& a, const CNTK::Variable& b, const std::wstring& name) {
  switch (function) {
    case B::add:
      return CNTK::Plus(a, b, name);
    case B::sub:
      return CNTK::Minus(a, b, name);
    case B::mul:
      return CNTK::ElementTimes(a, b, name);
    case B::div:
      return CNTK::ElementDivide(a, b, name);
  }
  fail(ErrorKind::internal, "an unknown function");
}

const char* op_of(B function) {
  switch (function) {
    case B::add:
      return "Plus";
    case B::sub:
      return "Minus";
    case B::mul:
      return "ElementTimes";
    case B::div:
      return "ElementDivide";
  }
  return "";
}

// One draw for each sample: what is dropped is a 1 beside it.
Tensor drawn_per_sample(const Dropout& op, const Args& in, unsigned long seed) {
  const Tensor x = in.batched(0);
  CNTK::Variable one = *x;
  for (int axis = 0; axis < static_cast<int>(one.Shape().extents.size()); ++axis)
    one = CNTK::ReduceMax(one, CNTK::Axis(axis), L"");
  return in.result(times(*x, CNTK::Dropout(CNTK::Equal(one, one, L""), op.p, seed, in.name())), true);
}

}  // namespace

Tensor lower(const Unary& op, const Args& in) { return in.like(in[0], apply(op, *in[0], in)); }
LoweredAs lowered_as(const Unary& op, size_t) {
  if (op.function == F::gelu) return unsupported("CNTK has no error function, which gelu is made of");
  return op.function == F::silu ? composed(op_of(op.function)) : native(op_of(op.function));
}

Tensor lower(const Binary& op, const Args& in) {
  const std::vector<Tensor> x = in.alike();
  return in.result(apply(op.function, *x[0], *x[1], in.name()), x[0].batched || x[1].batched);
}
LoweredAs lowered_as(const Binary& op, size_t) { return native(op_of(op.function)); }

Tensor lower(const Affine& op, const Args& in) {
  CNTK::Variable y = *in[0];
  if (op.factor != 1) y = times(y, in.scalar(op.factor));
  return in.like(in[0], op.offset == 0 && op.factor != 1 ? y : plus(y, in.scalar(op.offset)));
}
LoweredAs lowered_as(const Affine&, size_t) { return composed("ElementTimes, Plus"); }

Tensor lower(const Clamp& op, const Args& in) {
  return in.like(in[0], CNTK::Clip(*in[0], in.scalar(op.low), in.scalar(op.high), in.name()));
}
LoweredAs lowered_as(const Clamp&, size_t) { return native("Clip"); }

Tensor lower(const Greater& op, const Args& in) {
  return in.like(in[0], CNTK::Greater(*in[0], in.scalar(op.value), in.name()));
}
LoweredAs lowered_as(const Greater&, size_t) { return native("Greater"); }

// A number that each sample has, as `cast` from one type to another: integers are floats here.
Tensor lower(const Cast&, const Args& in) { return in[0]; }
LoweredAs lowered_as(const Cast& op, size_t) {
  if (op.to == DType::f32 || op.to == DType::f64) return native("none: one type of float");
  if (is_float(op.to)) return unsupported(cat("CNTK's CPU kernels do not run in ", op.to));
  return unsupported("CNTK has no integers");
}

Tensor lower(const Equals& op, const Args& in) {
  return in.like(in[0], CNTK::Equal(*in[0], in.scalar(static_cast<double>(op.value)), in.name()));
}
LoweredAs lowered_as(const Equals&, size_t) { return native("Equal"); }

// The mask of a sample spreads over it.
Tensor lower(const Dropout& op, const Args& in) {
  if (op.p == 0) return in[0];
  constexpr unsigned long kOfTheSession = static_cast<unsigned long>(-2);  // drawn from the fixed seed
  if (in.size() == 1 && op.per_sample) return drawn_per_sample(op, in, kOfTheSession);
  if (in.size() == 1) return in.like(in[0], CNTK::Dropout(*in[0], op.p, kOfTheSession, in.name()));
  const std::vector<Tensor> x = in.alike();
  const CNTK::Variable kept = times(*x[0], CNTK::Variable(CNTK::StopGradient(*x[1], L"")));
  return in.result(CNTK::ElementTimes(kept, in.scalar(1 / (1 - op.p)), in.name()), x[0].batched);
}
LoweredAs lowered_as(const Dropout& op, size_t operands) {
  if (operands > 1) return composed("ElementTimes");
  return op.per_sample ? composed("ReduceMax, Equal, Dropout, ElementTimes") : native("Dropout");
}

Tensor lower(const Fusion& op, const Args& in) {
  if (!op.plain) fail(ErrorKind::unsupported, "not lowered");
  const std::vector<Tensor> x = in.alike();
  CNTK::Variable sum = *x[0];
  for (size_t i = 1; i < x.size(); ++i) sum = plus(sum, *x[i]);
  return in.like(x[0], sum);
}
LoweredAs lowered_as(const Fusion& op, size_t) {
  if (op.plain) return composed("Plus");
  return unsupported("CNTK sums the gradient of a weight over a whole map one by one, which loses too much");
}

}  // namespace tbd::cntk
