#include "backends/mxnet/lowering.h"
#include "backends/mxnet/statistics.h"

namespace tbd::mxnet {

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
  const bool updates = op.stats == BatchNorm::Stats::running && backward_updates(in.dtype(in.size() - 1));
  return in.op("BatchNorm", {in[0], weight, bias, mean, variance},
               {{"eps", text(op.eps)},
                {"momentum", text(updates ? 1 - op.momentum : 1.0)},
                {"fix_gamma", text(false)},
                {"use_global_stats", text(op.stats == BatchNorm::Stats::frozen)}});
}

// MXNet's own scale and shift are per group: they are 1 and 0, and ours follow per channel.
Symbol lower(const GroupNorm& op, const Args& in) {
  const Shape groups = {op.groups}, &x = in.shape(0);
  std::vector<int64_t> extents(static_cast<size_t>(x.rank()), 1);
  extents[1] = x[1];
  const auto per_channel = [&](const char* suffix, size_t operand) {
    return in.part(suffix, "Reshape", {in[operand]}, {{"shape", text(extents)}});
  };
  const Symbol normal =
      in.part("normal", "GroupNorm", {in[0], in.filled("ones", groups, 1), in.filled("zeros", groups, 0)},
              {{"num_groups", std::to_string(op.groups)}, {"eps", text(op.eps)}});
  const Symbol scaled = in.part("scaled", "broadcast_mul", {normal, per_channel("weight", 1)});
  return in.op("broadcast_add", {scaled, per_channel("bias", 2)});
}

Symbol lower(const LayerNorm& op, const Args& in) {
  return in.op("LayerNorm", {in[0], in[1], in[2]}, {{"axis", "-1"}, {"eps", text(op.eps)}});
}

}  // namespace tbd::mxnet
