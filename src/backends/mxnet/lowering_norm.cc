#include "backends/mxnet/lowering.h"
#include "backends/mxnet/statistics.h"

namespace tbd::mxnet {
namespace {

// Mean 0 and variance 1 along the last axis, of parts: MXNet's norms keep eps in single precision, which double shows.
Symbol standardized(const Args& in, const Symbol& x, double eps) {
  const Attributes last = {{"axis", "-1"}, {"keepdims", text(true)}};
  const Symbol centred = in.part("centred", "broadcast_sub", {x, in.part("mean", "mean", {x}, last)});
  const Symbol variance = in.part("variance", "mean", {in.part("squares", "square", {centred})}, last);
  const Symbol shifted = in.part("shifted", "_plus_scalar", {variance}, {{"scalar", text(eps)}});
  return in.part("standardized", "broadcast_mul", {centred, in.part("scale", "rsqrt", {shifted})});
}

// (N, C, ...) -> (N, C, H, 1): oneDNN's BatchNorm knows images.
Shape as_image(const Shape& x) { return {x[0], x[1], x.elements() / (x[0] * x[1]), 1}; }

// Each group of channels of an image; MXNet's own scale and shift are per group: they are 1 and 0.
Symbol normalized_groups(const GroupNorm& op, const Args& in) {
  const Shape groups = {op.groups};
  return in.part("normal", "GroupNorm", {in[0], in.filled("ones", groups, 1), in.filled("zeros", groups, 0)},
                 {{"num_groups", std::to_string(op.groups)}, {"eps", text(op.eps)}});
}

// GroupNorm in double: MXNet's own keeps eps in single precision.
Symbol exact_group_norm(const GroupNorm& op, const Args& in) {
  const Shape& x = in.shape(0);
  const Shape rows = {x[0], op.groups, x.elements() / (x[0] * op.groups)};
  const Symbol flat = in.part("groups", "Reshape", {in[0]}, to_shape(rows));
  const Symbol normal = in.part("normal", "Reshape", {standardized(in, flat, op.eps)}, to_shape(x));
  std::vector<int64_t> extents(static_cast<size_t>(x.rank()), 1);
  extents[1] = x[1];
  const auto per_channel = [&](const char* suffix, size_t operand) {
    return in.part(suffix, "Reshape", {in[operand]}, {{"shape", text(extents)}});
  };
  const Symbol scaled = in.part("scaled", "broadcast_mul", {normal, per_channel("weight", 1)});
  return in.op("broadcast_add", {scaled, per_channel("bias", 2)});
}

}  // namespace

// x (N, C, ...); operands: weight and bias if affine, then the running statistics, which the backward pass updates with
// the biased variance (statistics.h makes that ours).
Symbol lower(const BatchNorm& op, const Args& in) {
  const Shape channels = {in.shape(0)[1]};
  size_t next = 1;
  const Symbol weight = op.affine ? in[next++] : in.filled("weight", channels, 1);
  const Symbol bias = op.affine ? in[next++] : in.filled("bias", channels, 0);
  const bool own = op.stats == BatchNorm::Stats::batch;
  const Symbol mean = own ? in.filled("running_mean", channels, 0) : in[next++];
  const Symbol variance = own ? in.filled("running_var", channels, 1) : in[next++];
  const bool updates = op.stats == BatchNorm::Stats::running && backward_updates(op, in.dtype(in.size() - 1));
  return in.op("BatchNorm", {in[0], weight, bias, mean, variance},
               {{"eps", text(op.eps)},
                {"momentum", text(updates ? 1 - op.momentum : 1.0)},
                {"fix_gamma", text(false)},
                {"use_global_stats", text(op.stats == BatchNorm::Stats::frozen)}});
}
LoweredAs lowered_as(const BatchNorm&, size_t) { return native("BatchNorm"); }

// BatchNorm by the mean 0 and the variance 1, whose gradients take a twentieth of the time that broadcasts' do.
Symbol scaled_per_channel(const Args& in, const Shape& shape, const Symbol& x, const Symbol& weight,
                          const Symbol& bias) {
  const Shape channels = {shape[1]};
  const Symbol image = in.part("affine/image", "Reshape", {x}, to_shape(as_image(shape)));
  const Symbol scaled =
      in.part("affine", "BatchNorm",
              {image, weight, bias, in.filled("affine/mean", channels, 0), in.filled("affine/var", channels, 1)},
              {{"eps", text(1e-12)}, {"fix_gamma", text(false)}, {"use_global_stats", text(true)}});
  return in.op("Reshape", {scaled}, to_shape(shape));
}

// Our scale and shift are per channel, MXNet's per group.
Symbol lower(const GroupNorm& op, const Args& in) {
  if (in.dtype(0) != DType::f32) return exact_group_norm(op, in);
  return scaled_per_channel(in, in.shape(0), normalized_groups(op, in), in[1], in[2]);
}
LoweredAs lowered_as(const GroupNorm&, size_t) {
  return composed("GroupNorm, BatchNorm by fixed statistics; in fp64 of mean, square, rsqrt, broadcasts");
}

Symbol lower(const LayerNorm& op, const Args& in) {
  if (in.dtype(0) != DType::f64)
    return in.op("LayerNorm", {in[0], in[1], in[2]}, {{"axis", "-1"}, {"eps", text(op.eps)}});
  const Symbol scaled = in.part("scaled", "broadcast_mul", {standardized(in, in[0], op.eps), in[1]});
  return in.op("broadcast_add", {scaled, in[2]});
}
LoweredAs lowered_as(const LayerNorm&, size_t) {
  return native("LayerNorm; in fp64 mean, square, rsqrt, broadcast_mul, broadcast_add");
}

// x times the outer product of each row's scale and the weight. Sums and outer products are matrix products: MXNet's
// reductions and broadcasts take ten times as long, backwards above all.
Symbol lower(const RmsNorm& op, const Args& in) {
  const int64_t width = in.shape(0).back();
  const Shape rows = {in.shape(0).elements() / width, width};
  const Symbol x = in.part("rows", "Reshape", {in[0]}, to_shape(rows));
  const Symbol shares = in.filled("shares", {width, 1}, 1 / static_cast<double>(width));
  const Symbol mean = in.part("mean", "dot", {in.part("squares", "square", {x}), shares});
  const Symbol scale = in.part("scale", "rsqrt", {in.part("shifted", "_plus_scalar", {mean}, with_scalar(op.eps))});
  const Symbol weight = in.part("weight", "Reshape", {in[1]}, to_shape({1, width}));
  const Symbol scaled = in.part("scaled", "elemwise_mul", {x, in.part("outer", "dot", {scale, weight})});
  return in.op("Reshape", {scaled}, to_shape(in.out()));
}
LoweredAs lowered_as(const RmsNorm&, size_t) {
  return composed("square, rsqrt, elemwise_mul; dot for sums and outer products");
}

Symbol lower(const Softmax&, const Args& in) { return in.op("softmax", {in[0]}, {{"axis", "-1"}}); }
LoweredAs lowered_as(const Softmax&, size_t) { return native("softmax"); }

}  // namespace tbd::mxnet
