#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/ctc_loss.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mse_loss.h>

#include "backends/pytorch/lowering.h"

namespace tbd::pytorch {
namespace {

constexpr int64_t kNoLabel = -100;  // torch's own id for "ignore nothing"

// torch's smoothing is our `all`. Leaving 1 - e to the label and e / (classes - 1) to each other class is spreading
// e classes / (classes - 1) over all.
double smoothing_over_all(const SoftmaxCrossEntropy& op, int64_t classes) {
  if (op.spread == SoftmaxCrossEntropy::Spread::all) return op.smoothing;
  return op.smoothing * static_cast<double>(classes) / static_cast<double>(classes - 1);
}

}  // namespace

// Over the rows of all leading axes. torch wants labels of 64 bits.
at::Tensor lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const at::Tensor logits = in[0].flatten(0, -2), label = in[1].flatten().to(at::kLong);
  const bool weighted = in.size() > 2;
  const auto loss = [&](double smoothing) {
    return at::cross_entropy_loss(logits, label, /*weight=*/{}, weighted ? at::Reduction::None : at::Reduction::Sum,
                                  op.ignore < 0 ? kNoLabel : op.ignore, smoothing);
  };
  const double smoothing = smoothing_over_all(op, logits.size(1));
  // Linear in the smoothing, of which torch takes no more than 1.
  const at::Tensor terms = smoothing <= 1 ? loss(smoothing) : loss(0).mul(1 - smoothing).add(loss(1), smoothing);
  return weighted ? terms.mul(in[2].detach().flatten()).sum() : terms;
}
LoweredAs lowered_as(const SoftmaxCrossEntropy&, size_t operands) {
  if (operands > 2) return composed("cross_entropy_loss, mul, sum");
  return native("cross_entropy_loss");
}

at::Tensor lower(const SoftCrossEntropy&, const Args& in) {
  return at::cross_entropy_loss(in[0].flatten(0, -2), in[1].detach().flatten(0, -2), /*weight=*/{}, at::Reduction::Sum);
}
LoweredAs lowered_as(const SoftCrossEntropy&, size_t) { return native("cross_entropy_loss"); }

// torch's kernel takes steps first, and is for the logarithms of a softmax.
at::Tensor lower(const CtcLoss& op, const Args& in) {
  const auto on_host = [](const at::Tensor& lengths) { return lengths.to(at::kCPU, at::kLong); };
  const at::Tensor steps = at::log_softmax(in[0], -1).transpose(0, 1);
  return at::ctc_loss(steps, in[2].to(at::kLong), on_host(in[1]), on_host(in[3]), op.blank, at::Reduction::Sum,
                      /*zero_infinity=*/true);
}
LoweredAs lowered_as(const CtcLoss&, size_t) { return composed("log_softmax, ctc_loss"); }

at::Tensor lower(const SquaredError&, const Args& in) { return at::mse_loss(in[0], in[1], at::Reduction::Sum); }
LoweredAs lowered_as(const SquaredError&, size_t) { return native("mse_loss"); }

at::Tensor lower(const Huber& op, const Args& in) {
  const at::Tensor terms = at::huber_loss(in[0], in[1].detach(), at::Reduction::None, op.delta);
  at::Tensor weights = in[2].detach();
  while (weights.dim() < terms.dim()) weights = weights.unsqueeze(-1);
  return terms.mul(weights).sum();
}
LoweredAs lowered_as(const Huber&, size_t) { return composed("huber_loss, mul, sum"); }

}  // namespace tbd::pytorch
