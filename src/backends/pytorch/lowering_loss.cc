#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/ctc_loss.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "backends/pytorch/focal_loss.h"
#include "backends/pytorch/lowering.h"
#include "backends/pytorch/onednn.h"

namespace tbd::pytorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr int64_t kNoLabel = -100;  // torch's own id for "ignore nothing"

// torch's smoothing is our `all`. Leaving 1 - e to the label and e / (classes - 1) to each other class is spreading
// e classes / (classes - 1) over all.
double smoothing_over_all(const SoftmaxCrossEntropy& op, int64_t classes) {
  if (op.spread == SoftmaxCrossEntropy::Spread::all) return op.smoothing;
  return op.smoothing * static_cast<double>(classes) / static_cast<double>(classes - 1);
}

// Weights of leading axes, with as many axes as `rank` says.
at::Tensor spread(const at::Tensor& weights, int64_t rank) {
  at::Tensor out = weights.detach();
  while (out.dim() < rank) out = out.unsqueeze(-1);
  return out;
}

// torch's own derivative keeps both operands, and its product with the weights the weights and each term; this one
// keeps the weighted slope.
struct WeightedHuber : torch::autograd::Function<WeightedHuber> {
  static Variable forward(AutogradContext* context, const Variable& a, const Variable& b, const Variable& weights,
                          double delta) {
    context->save_for_backward({a.sub(b).clamp_(-delta, delta).mul_(weights)});
    return at::huber_loss(a, b, at::Reduction::None, delta).mul_(weights).sum();
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    variable_list out(4);
    out[0] = context->get_saved_variables()[0].mul(upstream[0]);
    return out;
  }
};

// Of cross-entropy with integer labels: mode eager-onednn takes fewer passes over the logits, and makes nothing beside
// them. torch's gradient of a smoothed loss makes one tensor as large for the labels, adds another for the other
// classes, and multiplies a third. This one turns the logarithms, which it alone holds, into the gradient where they
// lie.
struct CrossEntropyRule {
  double smoothing = 0;  // spread over all classes; may exceed 1
  int64_t ignore = -1;   // a label whose rows count nothing; negative: none
};

constexpr int64_t kRowsLogits = 1 << 17;  // a block of rows that caches hold while it is passed over

// A row's loss is w (-(1 - s) log p(label) - s / K sum over classes of log p), its gradient by a logit
// w (p - s / K - (1 - s) [the label's]).
struct CrossEntropyInPlace : torch::autograd::Function<CrossEntropyInPlace> {
  static Variable forward(AutogradContext* context, const Variable& logits, const Variable& label,
                          const Variable& weights, double smoothing) {
    const at::Tensor logarithms = at::log_softmax(logits, 1);
    context->save_for_backward({logarithms, label, weights});
    context->saved_data["smoothing"] = smoothing;
    at::Tensor rows = at::gather(logarithms, 1, label).squeeze(1).mul_(smoothing - 1);
    if (smoothing != 0) rows.sub_(logarithms.sum(1), smoothing / static_cast<double>(logits.size(1)));
    return rows.mul_(weights).sum();
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const double smoothing = context->saved_data["smoothing"].toDouble();
    const at::Tensor &gradient = saved[0], weights = saved[2].mul(upstream[0]).unsqueeze(1);
    const int64_t classes = gradient.size(1), block = std::max<int64_t>(1, kRowsLogits / classes);
    for (int64_t begin = 0; begin < gradient.size(0); begin += block) {
      const int64_t count = std::min(block, gradient.size(0) - begin);
      at::Tensor rows = gradient.narrow(0, begin, count).exp_();
      if (smoothing != 0) rows.sub_(smoothing / static_cast<double>(classes));
      rows.mul_(weights.narrow(0, begin, count));
    }
    variable_list out(4);
    out[0] = at::Tensor(gradient).scatter_add_(1, saved[1], weights.mul(smoothing - 1));
    return out;
  }
};

// logits (rows, K), label (rows) of 64 bits, weights (rows) or undefined: the sum over rows, differentiable once.
at::Tensor cross_entropy(const CrossEntropyRule& rule, const at::Tensor& logits, const at::Tensor& label,
                         const at::Tensor& weights) {
  const at::Tensor given = weights.defined() ? weights.detach() : at::ones_like(logits.detach().select(1, 0));
  if (rule.ignore < 0) return CrossEntropyInPlace::apply(logits, label.unsqueeze(1), given, rule.smoothing);
  const at::Tensor ignored = label.eq(rule.ignore);
  return CrossEntropyInPlace::apply(logits, label.masked_fill(ignored, 0).unsqueeze(1), given.masked_fill(ignored, 0),
                                    rule.smoothing);
}

}  // namespace

// Over the rows of all leading axes. torch wants labels of 64 bits.
at::Tensor lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const at::Tensor logits = in[0].flatten(0, -2), label = in[1].flatten().to(at::kLong);
  const bool weighted = in.size() > 2;
  const double smoothing = smoothing_over_all(op, logits.size(1));
  if (prefers_onednn() && logits.is_cpu())
    return cross_entropy({smoothing, op.ignore}, logits, label, weighted ? in[2].flatten() : at::Tensor());
  const auto loss = [&](double smoothing) {
    return at::cross_entropy_loss(logits, label, /*weight=*/{}, weighted ? at::Reduction::None : at::Reduction::Sum,
                                  op.ignore < 0 ? kNoLabel : op.ignore, smoothing);
  };
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
  return WeightedHuber::apply(in[0], in[1].detach(), spread(in[2], in[0].dim()), op.delta);
}
LoweredAs lowered_as(const Huber&, size_t) {
  return composed("huber_loss, mul, sum, with a gradient of its own: sub, clamp, mul");
}

at::Tensor lower(const BceWithLogits&, const Args& in) {
  return at::binary_cross_entropy_with_logits(in[0], in[1].detach(), spread(in[2], in[0].dim()), /*pos_weight=*/{},
                                              at::Reduction::Sum);
}
LoweredAs lowered_as(const BceWithLogits&, size_t) { return native("binary_cross_entropy_with_logits"); }

at::Tensor lower(const SigmoidFocal& op, const Args& in) { return focal_loss(op, in[0], in[1]); }
LoweredAs lowered_as(const SigmoidFocal&, size_t) {
  return composed("sigmoid, log_sigmoid, pow, mul, gather, sum by blocks of rows, with a gradient of its own");
}

}  // namespace tbd::pytorch
