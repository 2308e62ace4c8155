// Nearly all logits are of classes that are not there. All are counted as such in a few passes over the whole, then
// each row's one class is put right: its difference is added to the sum, its gradient replaces the other.
#include "backends/pytorch/focal_loss.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/custom_function.h>

namespace tbd::pytorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// sigmoid(u)^gamma and softplus(u), by which a logit of -s z = u is wrong.
struct Parts {
  at::Tensor wrong, power, softplus;
};
Parts parts(const at::Tensor& u, double gamma) {
  const at::Tensor wrong = at::sigmoid(u);
  return {wrong, wrong.pow(gamma), at::log_sigmoid(u.neg()).neg_()};
}
at::Tensor terms(const at::Tensor& u, double gamma) {
  Parts p = parts(u, gamma);
  return p.power.mul_(p.softplus);
}
// The terms' derivative by u: power (gamma q softplus + wrong), q = 1 - wrong.
at::Tensor slopes(const at::Tensor& u, double gamma) {
  Parts p = parts(u, gamma);
  const at::Tensor q = p.wrong.neg().add_(1);
  return p.softplus.mul_(q).mul_(gamma).add_(p.wrong).mul_(p.power);
}

// Of each row: its class as an index, whether it has one, by how much it counts.
struct Rows {
  at::Tensor index, has_class, counts;
};
Rows rows_of(const at::Tensor& classes, at::ScalarType type) {
  const at::Tensor column = classes.unsqueeze(-1);
  return {column.clamp_min(0).to(at::kLong), column.ge(0), column.ne(SigmoidFocal::kLeftOut).to(type)};
}

struct FocalLoss : torch::autograd::Function<FocalLoss> {
  static Variable forward(AutogradContext* context, const Variable& logits, const Variable& classes, double alpha,
                          double gamma) {
    context->save_for_backward({logits, classes});
    context->saved_data["alpha"] = alpha;
    context->saved_data["gamma"] = gamma;
    const Rows rows = rows_of(classes, logits.scalar_type());
    const at::Tensor at_class = logits.gather(-1, rows.index);
    const at::Tensor absent = terms(logits, gamma).sum(-1, /*keepdim=*/true).mul_(1 - alpha);
    const at::Tensor change = terms(at_class.neg(), gamma).mul_(alpha).sub_(terms(at_class, gamma), 1 - alpha);
    return absent.add_(change.mul_(rows.has_class)).mul_(rows.counts).sum();
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const double alpha = context->saved_data["alpha"].toDouble(), gamma = context->saved_data["gamma"].toDouble();
    const Rows rows = rows_of(saved[1], saved[0].scalar_type());
    at::Tensor out = slopes(saved[0], gamma).mul_(rows.counts.mul(upstream[0]).mul_(1 - alpha));
    const at::Tensor of_class = slopes(saved[0].gather(-1, rows.index).neg(), gamma).mul_(upstream[0]).mul_(-alpha);
    out.scatter_(-1, rows.index, at::where(rows.has_class, of_class, out.gather(-1, rows.index)));
    return {out, Variable(), Variable(), Variable()};
  }
};

}  // namespace

at::Tensor focal_loss(const SigmoidFocal& op, const at::Tensor& logits, const at::Tensor& classes) {
  return FocalLoss::apply(logits, classes, op.alpha, op.gamma);
}

}  // namespace tbd::pytorch
