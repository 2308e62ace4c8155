#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/silu.h>

#include "backends/pytorch/lowering.h"

namespace tbd::pytorch {
namespace {

using F = Unary::Function;

at::Tensor in_place(const Unary& op, at::Tensor x) {
  switch (op.function) {
    case F::relu:
      return x.relu_();
    case F::leaky_relu:
      return at::leaky_relu_(x, op.slope);
    case F::sigmoid:
      return x.sigmoid_();
    case F::tanh:
      return x.tanh_();
    case F::exp:
      return x.exp_();
    case F::log:
      return x.log_();
    case F::sqrt:
      return x.sqrt_();
    case F::square:
      return x.square_();
    case F::abs:
      return x.abs_();
    case F::neg:
      return x.neg_();
    case F::gelu:
      return at::gelu_(x);
    case F::silu:
      return at::silu_(x);
  }
  fail(ErrorKind::internal, "unary function without a lowering");
}

}  // namespace

at::Tensor lower(const Unary& op, const Args& in) {
  const at::Tensor& x = in[0];
  if (in.overwrite() == 0) return in_place(op, x);
  switch (op.function) {
    case F::relu:
      return x.relu();
    case F::leaky_relu:
      return at::leaky_relu(x, op.slope);
    case F::sigmoid:
      return x.sigmoid();
    case F::tanh:
      return x.tanh();
    case F::exp:
      return x.exp();
    case F::log:
      return x.log();
    case F::sqrt:
      return x.sqrt();
    case F::square:
      return x.square();
    case F::abs:
      return x.abs();
    case F::neg:
      return x.neg();
    case F::gelu:
      return at::gelu(x);
    case F::silu:
      return at::silu(x);
  }
  fail(ErrorKind::internal, "unary function without a lowering");
}
LoweredAs lowered_as(const Unary& op, size_t) { return native(kind(op)); }

at::Tensor lower(const Clamp& op, const Args& in) { return in[0].clamp(op.low, op.high); }
LoweredAs lowered_as(const Clamp&, size_t) { return native("clamp"); }

at::Tensor lower(const Greater& op, const Args& in) { return in[0].detach().gt(op.value).to(in[0].scalar_type()); }
LoweredAs lowered_as(const Greater&, size_t) { return composed("gt, to"); }

at::Tensor lower(const Binary& op, const Args& in) {
  using B = Binary::Function;
  const at::Tensor &a = in[0], &b = in[1];
  switch (op.function) {
    case B::add:
      return in.overwrite() == 0 ? a.add_(b) : in.overwrite() == 1 ? b.add_(a) : a.add(b);
    case B::sub:
      return in.overwrite() == 0 ? a.sub_(b) : a.sub(b);
    case B::mul:
      return in.overwrite() == 0 ? a.mul_(b) : in.overwrite() == 1 ? b.mul_(a) : a.mul(b);
    case B::div:
      return in.overwrite() == 0 ? a.div_(b) : a.div(b);
  }
  fail(ErrorKind::internal, "binary function without a lowering");
}
LoweredAs lowered_as(const Binary& op, size_t) { return native(kind(op)); }

at::Tensor lower(const Affine& op, const Args& in) {
  at::Tensor y = in[0];
  const bool overwrite = in.overwrite() == 0;
  if (op.factor != 1) y = overwrite ? y.mul_(op.factor) : y.mul(op.factor);
  if (op.offset != 0) y = overwrite || op.factor != 1 ? y.add_(op.offset) : y.add(op.offset);
  return y;
}
LoweredAs lowered_as(const Affine& op, size_t) {
  if (op.factor != 1 && op.offset != 0) return composed("mul, add");
  return native(op.offset != 0 ? "add" : "mul");
}

// Without a mask operand torch's generator draws. A mask of samples is scaled before it is spread over x.
at::Tensor lower(const Dropout& op, const Args& in) {
  const at::Tensor& x = in[0];
  const bool given = in.size() > 1;
  if (!op.per_sample) return given ? x.mul(in[1]).mul(1 / (1 - op.p)) : at::dropout(x, op.p, /*train=*/true);
  if (given) return x.mul(in[1].mul(1 / (1 - op.p)));
  std::vector<int64_t> one_each(static_cast<size_t>(x.dim()), 1);
  one_each[0] = x.size(0);
  return x.mul(at::empty(one_each, x.options()).bernoulli_(1 - op.p).div_(1 - op.p));
}
LoweredAs lowered_as(const Dropout& op, size_t) {
  return op.per_sample ? composed("bernoulli_, mul") : native("dropout; with a mask composed of mul");
}

at::Tensor lower(const Fusion& op, const Args& in) {
  const size_t count = summands(op, in.size());
  std::vector<at::Tensor> shares;
  if (!op.plain) {
    const at::Tensor weight = in[count].relu();
    shares = weight.div(weight.sum().add(op.epsilon)).unbind();
  }
  const auto term = [&](size_t i) { return op.plain ? in[i] : in[i].mul(shares[i]); };
  at::Tensor y = term(0);
  for (size_t i = 1; i < count; ++i) y = y.add(term(i));
  return y;
}
LoweredAs lowered_as(const Fusion& op, size_t) { return composed(op.plain ? "add" : "relu, sum, div, mul, add"); }

}  // namespace tbd::pytorch
