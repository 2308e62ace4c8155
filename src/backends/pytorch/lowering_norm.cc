#include <ATen/Context.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/softmax.h>

#include "backends/pytorch/lowering.h"

namespace tbd::pytorch {
namespace {

constexpr bool kUseCudnn = true;

// A frozen norm of one type is a scale and a shift. Backward keeps the scale, where torch's batch_norm keeps all of x.
at::Tensor scaled_and_shifted(const BatchNorm& op, const Args& in) {
  const at::Tensor& x = in[0];
  at::Tensor scale = in[in.size() - 1].add(op.eps).rsqrt_();
  if (op.affine) scale.mul_(in[1]);
  at::Tensor shift = in[in.size() - 2].mul(scale).neg_();
  if (op.affine) shift.add_(in[2]);
  std::vector<int64_t> channels(static_cast<size_t>(x.dim()), 1);
  channels[1] = x.size(1);
  return at::addcmul(shift.view(channels), x, scale.view(channels));
}

// x for a norm whose weight is in fp32: torch's kernels take an x of a low type beside it on processors, and on a GPU
// only one of its own type (rms_norm is many kernels there otherwise).
at::Tensor as_weight(const Args& in) { return in[0].is_cuda() ? in[0].to(in[1].scalar_type()) : in[0]; }

}  // namespace

// x (N, C, ...); operands: weight and bias if affine, then the running statistics, which training updates in place.
at::Tensor lower(const BatchNorm& op, const Args& in) {
  using Stats = BatchNorm::Stats;
  if (op.stats == Stats::frozen && in[0].scalar_type() == in[1].scalar_type()) return scaled_and_shifted(op, in);
  std::optional<at::Tensor> weight, bias, mean, variance;
  size_t next = 1;
  if (op.affine) {
    weight = in[next++];
    bias = in[next++];
  }
  if (op.stats != Stats::batch) {
    mean = in[next++];
    variance = in[next++];
  }
  const bool training = op.stats != Stats::frozen;
  return at::batch_norm(in[0], weight, bias, mean, variance, training, op.momentum, op.eps, kUseCudnn);
}
LoweredAs lowered_as(const BatchNorm& op, size_t) {
  if (op.stats == BatchNorm::Stats::frozen) return composed("rsqrt, addcmul; batch_norm in low precision");
  return native("batch_norm");
}

at::Tensor lower(const GroupNorm& op, const Args& in) {
  return at::group_norm(as_weight(in), op.groups, in[1], in[2], op.eps, kUseCudnn).to(in[0].scalar_type());
}
LoweredAs lowered_as(const GroupNorm&, size_t) { return native("group_norm"); }

at::Tensor lower(const LayerNorm& op, const Args& in) {
  const int64_t features[] = {in[0].size(-1)};
  return at::layer_norm(as_weight(in), features, in[1], in[2], op.eps, kUseCudnn).to(in[0].scalar_type());
}
LoweredAs lowered_as(const LayerNorm&, size_t) { return native("layer_norm"); }

at::Tensor lower(const RmsNorm& op, const Args& in) {
  const int64_t features[] = {in[0].size(-1)};
  return at::rms_norm(as_weight(in), features, in[1], op.eps).to(in[0].scalar_type());
}
LoweredAs lowered_as(const RmsNorm&, size_t) { return native("rms_norm"); }

// torch's kernel computes low types in fp32.
at::Tensor lower(const Softmax&, const Args& in) { return at::softmax(in[0], -1); }
LoweredAs lowered_as(const Softmax&, size_t) { return native("softmax"); }

}  // namespace tbd::pytorch
