#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// Images with channels last: rank 4 as it is, (N, C) as (N, 1, 1, C), other ranks with their positions in one row.
TF_Output channels_last(const Args& in) {
  const Operand& x = in[0];
  if (x.shape.rank() == 4) return in.as(0, Layout::nhwc);
  const int64_t n = x.shape[0], c = x.shape[1], positions = x.shape.elements() / (n * c);
  if (positions == 1) return in.reshape(in.row(0), {n, 1, 1, c});
  const int64_t order[] = {0, 2, 1};
  return in.reshape(in.transpose(in.reshape(in.row(0), {n, c, positions}), order), {n, 1, positions, c});
}

Operand from_channels_last(const Args& in, TF_Output y) {
  const Shape& x = in[0].shape;
  if (x.rank() == 4) return {y, Layout::nhwc};
  const int64_t n = x[0], c = x[1], positions = x.elements() / (n * c);
  const int64_t order[] = {0, 2, 1};
  if (positions > 1) y = in.transpose(in.reshape(y, {n, positions, c}), order);
  return {in.reshape(y, x)};
}

// (v + eps)^-1/2; Rsqrt has no second gradient, Pow has.
TF_Output inverse_root(const Args& in, TF_Output v, double eps, DType dtype) {
  return in.binary("Pow", in.binary("AddV2", v, in.graph().constant(eps, dtype)), in.graph().constant(-0.5, dtype));
}

struct Moments {
  TF_Output centred, variance, mean;  // x - mean, biased variance; all with the reduced axes kept
};
Moments moments(const Args& in, TF_Output x, std::span<const int64_t> axes) {
  const TF_Output mean = in.reduce("Mean", x, axes, true), centred = in.binary("Sub", x, mean);
  return {centred, in.reduce("Mean", in.unary("Square", centred), axes, true), mean};
}

// The operands of a batch norm by name.
struct BatchNormOperands {
  size_t weight = 0, bias = 0, mean = 0, variance = 0;  // 0: none
  explicit BatchNormOperands(const BatchNorm& op) {
    size_t next = 1;
    if (op.affine) {
      weight = next++;
      bias = next++;
    }
    if (op.stats != BatchNorm::Stats::batch) {
      mean = next++;
      variance = next++;
    }
  }
};

void assign(Operand& buffer, TF_Output value) {
  buffer.output = value;
  buffer.assigned = true;
}

// running <- (1 - momentum) running + momentum batch.
void advance(const Args& in, Operand& buffer, TF_Output batch, double momentum) {
  const auto times = [&](TF_Output x, double factor) {
    return in.binary("Mul", x, in.graph().constant(factor, buffer.dtype));
  };
  assign(buffer, in.binary("AddV2", times(buffer.output, 1 - momentum), times(batch, momentum)));
}

// One kernel that also moves the running statistics, with the unbiased variance.
TF_Output fused(const BatchNorm& op, const Args& in, const BatchNormOperands& at, TF_Output x) {
  const int64_t channels = in[0].shape[1];
  const bool training = op.stats != BatchNorm::Stats::frozen;
  const bool running = op.stats == BatchNorm::Stats::running && op.momentum != 1;
  const auto of = [&](size_t i, double value, int64_t extent) {
    return i > 0 ? in[i].output : in.graph().filled(value, DType::f32, {extent});
  };
  const bool reads = running || !training;
  const TF_Output nothing = reads ? TF_Output{nullptr, 0} : in.graph().constant(HostTensor(DType::f32, Shape{0}));
  TF_Operation* node = in.op("FusedBatchNormV3")
                           .in(x)
                           .in(of(at.weight, 1, channels))
                           .in(of(at.bias, 0, channels))
                           .in(reads ? in[at.mean].output : nothing)
                           .in(reads ? in[at.variance].output : nothing)
                           .real("epsilon", op.eps)
                           .real("exponential_avg_factor", running ? op.momentum : 1)
                           .boolean("is_training", training)
                           .finish();
  if (training && at.mean > 0) {
    assign(in[at.mean], {node, 1});
    assign(in[at.variance], {node, 2});
  }
  return {node, 0};
}

// FusedBatchNormV3 knows neither double nor a second gradient.
TF_Output in_parts(const BatchNorm& op, const Args& in, const BatchNormOperands& at, TF_Output x) {
  const DType dtype = inner_type(in[0].dtype);
  x = in.cast(x, in[0].dtype, dtype);
  const Shape& shape = in[0].shape;
  const int64_t axes[] = {0, 1, 2}, n = shape.elements() / shape[1];
  TF_Output y;
  if (op.stats == BatchNorm::Stats::frozen) {
    y = in.binary("Mul", in.binary("Sub", x, in[at.mean].output),
                  inverse_root(in, in[at.variance].output, op.eps, dtype));
  } else {
    const Moments m = moments(in, x, axes);
    y = in.binary("Mul", m.centred, inverse_root(in, m.variance, op.eps, dtype));
    if (at.mean > 0) {
      const double unbiased = static_cast<double>(n) / static_cast<double>(n - 1);
      const TF_Output variance = in.binary("Mul", m.variance, in.graph().constant(unbiased, dtype));
      advance(in, in[at.mean], in.reshape(m.mean, {shape[1]}), op.momentum);
      advance(in, in[at.variance], in.reshape(variance, {shape[1]}), op.momentum);
    }
  }
  if (op.affine) y = in.binary("AddV2", in.binary("Mul", y, in[at.weight].output), in[at.bias].output);
  return in.cast(y, dtype, in[0].dtype);
}

}  // namespace

// x (N, C, ...); operands: weight and bias if affine, then the running statistics.
Operand lower(const BatchNorm& op, const Args& in) {
  const BatchNormOperands at(op);
  const TF_Output x = channels_last(in);
  const bool can_fuse = in[0].dtype != DType::f64 && !in.twice();
  return from_channels_last(in, can_fuse ? fused(op, in, at, x) : in_parts(op, in, at, x));
}
LoweredAs lowered_as(const BatchNorm&, size_t) {
  return native("FusedBatchNormV3; composed of Mean, Square, Pow in fp64 and where a gradient is differentiated again");
}

Operand lower(const GroupNorm& op, const Args& in) {
  const Shape& shape = in[0].shape;
  const DType dtype = inner_type(in[0].dtype);
  const int64_t n = shape[0], c = shape[1], positions = shape.elements() / (n * c), axes[] = {1, 3};
  const TF_Output images = in.cast(channels_last(in), in[0].dtype, dtype);
  const Moments m = moments(in, in.reshape(images, {n, positions, op.groups, c / op.groups}), axes);
  TF_Output y = in.binary("Mul", m.centred, inverse_root(in, m.variance, op.eps, dtype));
  y = in.reshape(y, shape.rank() == 4 ? Shape{n, shape[2], shape[3], c} : Shape{n, 1, positions, c});
  y = in.binary("AddV2", in.binary("Mul", y, in[1].output), in[2].output);
  return from_channels_last(in, in.cast(y, dtype, in[0].dtype));
}
LoweredAs lowered_as(const GroupNorm&, size_t) { return composed("Mean, Square, Pow, Mul, AddV2"); }

Operand lower(const LayerNorm& op, const Args& in) {
  const DType dtype = inner_type(in[0].dtype);
  const int64_t axes[] = {in[0].shape.rank() - 1};
  const Moments m = moments(in, in.cast(in.row(0), in[0].dtype, dtype), axes);
  const TF_Output y = in.binary("Mul", m.centred, inverse_root(in, m.variance, op.eps, dtype));
  return {in.cast(in.binary("AddV2", in.binary("Mul", y, in[1].output), in[2].output), dtype, in[0].dtype)};
}
LoweredAs lowered_as(const LayerNorm&, size_t) { return composed("Mean, Square, Pow, Mul, AddV2"); }

Operand lower(const RmsNorm& op, const Args& in) {
  const DType dtype = inner_type(in[0].dtype);
  const int64_t axes[] = {in[0].shape.rank() - 1};
  const TF_Output x = in.cast(in.row(0), in[0].dtype, dtype);
  const TF_Output squares = in.reduce("Mean", in.unary("Square", x), axes, true);
  const TF_Output y = in.binary("Mul", x, inverse_root(in, squares, op.eps, dtype));
  return {in.cast(in.binary("Mul", y, in.row(1)), dtype, in[0].dtype)};
}
LoweredAs lowered_as(const RmsNorm&, size_t) { return composed("Mean, Square, Pow, Mul"); }

Operand lower(const Softmax&, const Args& in) {
  const DType dtype = inner_type(in[0].dtype);
  return {in.cast(in.unary("Softmax", in.cast(in.row(0), in[0].dtype, dtype)), dtype, in[0].dtype)};
}
LoweredAs lowered_as(const Softmax&, size_t) { return native("Softmax; in fp32 for low types"); }

}  // namespace tbd::tensorflow
