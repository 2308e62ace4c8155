#include <cmath>

#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

using Stats = BatchNorm::Stats;

// Per channel: (C) against images (N, C, H, W) or rows (N, C).
CNTK::Variable over_images(const Tensor& x, const Shape& image) {
  Shape shape = {x.shape[0]};
  std::vector<int64_t> extents = {x.shape[0]};
  for (int64_t i = 2; i < image.rank(); ++i) extents.push_back(1);
  return *reshaped(x, Shape(extents));
}

struct Norm {
  CNTK::Variable scale, bias, mean, variance;
};
Norm operands(const BatchNorm& op, const Args& in) {
  const Shape channels = {in.shape(0)[1]};
  const auto filled = [&](double value) {
    return in.constant(channels, std::vector<double>(static_cast<size_t>(channels[0]), value));
  };
  const size_t first = op.affine ? 3 : 1;
  const bool kept = op.stats != Stats::batch;
  return {op.affine ? *in.fixed(1) : filled(1), op.affine ? *in.fixed(2) : filled(0),
          kept ? *in.fixed(first) : filled(0), kept ? *in.fixed(first + 1) : filled(1)};
}

CNTK::Variable mean_over_last(const CNTK::Variable& x) { return CNTK::ReduceMean(x, CNTK::Axis(0), L""); }

}  // namespace

// CNTK's share of a new batch is 1 - exp(-samples / time constant), so the time constant of our momentum is exact; but
// of the very first batch it takes all, unless the count of samples says that it is not the first.
Tensor lower(const BatchNorm& op, const Args& in) {
  const Tensor x = in.batched(0);
  const Norm norm = operands(op, in);
  if (op.stats == Stats::frozen) {
    const auto spread = [&](const CNTK::Variable& v) {
      return over_images({v, Shape{in.shape(0)[1]}, false}, in.shape(0));
    };
    const CNTK::Variable deviation = CNTK::Sqrt(plus(norm.variance, in.scalar(op.eps)), L"");
    const CNTK::Variable scale = quotient(norm.scale, deviation);
    return in.result(plus(times(minus(*x, spread(norm.mean)), spread(scale)), spread(norm.bias)), true);
  }
  const int64_t n = in.shape(0).elements() / in.shape(0)[1];
  require(n > 1, "batch_norm: one element per channel of ", in.shape(0), " has no variance");
  const double samples = static_cast<double>(in.shape(0)[0]);
  const double time = op.stats == Stats::batch || op.momentum >= 1 ? 0 : -samples / std::log1p(-op.momentum);
  return in.result(CNTK::BatchNormalization(*x, norm.scale, norm.bias, norm.mean, norm.variance, in.constant({1}, {1}),
                                            /*spatial=*/true, time, 0, op.eps, /*use_cudnn=*/false, false, in.name()),
                   true);
}
LoweredAs lowered_as(const BatchNorm& op, size_t) {
  return op.stats == Stats::frozen ? composed("Minus, ElementTimes, Plus") : native("BatchNormalization");
}

// As a fixed value (N groups, elements of a group), whose last axis is normalised.
Tensor lower(const GroupNorm& op, const Args& in) {
  const Shape& shape = in.shape(0);
  const int64_t rest = shape.elements() / shape[0] / op.groups;
  const Tensor x = in[0].batched ? in[0] : in.batched(0);
  const CNTK::Variable groups = *reshaped(x, {shape[0], op.groups, rest});
  const CNTK::Variable centred = minus(groups, mean_over_last(groups));
  const CNTK::Variable variance = mean_over_last(CNTK::Square(centred, L""));
  const CNTK::Variable y = quotient(centred, CNTK::Sqrt(plus(variance, in.scalar(op.eps)), L""));
  const CNTK::Variable image = *reshaped({y, {shape[0], op.groups, rest}, true}, shape);
  return in.result(plus(times(image, over_images(in.fixed(1), shape)), over_images(in.fixed(2), shape)), true);
}
LoweredAs lowered_as(const GroupNorm&, size_t) { return composed("ReduceMean, Square, Sqrt, ElementDivide"); }

Tensor lower(const LayerNorm& op, const Args& in) {
  const CNTK::Variable centred = minus(*in[0], mean_over_last(*in[0]));
  const CNTK::Variable variance = mean_over_last(CNTK::Square(centred, L""));
  const CNTK::Variable y = quotient(centred, CNTK::Sqrt(plus(variance, in.scalar(op.eps)), L""));
  return in.like(in[0], plus(times(y, *in.fixed(1)), *in.fixed(2)));
}
LoweredAs lowered_as(const LayerNorm&, size_t) { return composed("ReduceMean, Square, Sqrt, ElementDivide"); }

Tensor lower(const RmsNorm& op, const Args& in) {
  const CNTK::Variable square = mean_over_last(CNTK::Square(*in[0], L""));
  const CNTK::Variable y = quotient(*in[0], CNTK::Sqrt(plus(square, in.scalar(op.eps)), L""));
  return in.like(in[0], times(y, *in.fixed(1)));
}
LoweredAs lowered_as(const RmsNorm&, size_t) { return composed("Square, ReduceMean, Sqrt, ElementDivide"); }

Tensor lower(const Softmax&, const Args& in) {
  const Tensor x = in.shape(0).rank() == 1 ? in.fixed(0) : in[0];
  if (in.type() == CNTK::DataType::kFloat) return in.like(x, CNTK::Softmax(*x, CNTK::Axis(0), in.name()));
  // CNTK's own goes by way of the logarithm and loses two bits, which shows in double.
  const CNTK::Variable largest = CNTK::StopGradient(CNTK::ReduceMax(*x, CNTK::Axis(0), L""), L"");
  const CNTK::Variable powers = CNTK::Exp(minus(*x, largest), L"");
  return in.like(x, quotient(powers, sum_over(powers, 0)));
}
LoweredAs lowered_as(const Softmax&, size_t) { return native("Softmax"); }

}  // namespace tbd::cntk
