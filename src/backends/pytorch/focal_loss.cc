// Nearly all logits are of classes that are not there. All of a block of rows are counted as such in a few passes, then
// each row's one class is put right: its difference is added to the sum, its gradient replaces the other.
#include "backends/pytorch/focal_loss.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

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

constexpr int64_t kBlockLogits = 1 << 16;  // what is made of them stays in a core's caches

// Some of the rows: their logits, of each its class as an index, whether it has one, by how much it counts.
struct Rows {
  at::Tensor logits, index, has_class, counts;
};
Rows rows_of(const at::Tensor& logits, const at::Tensor& classes) {
  const at::Tensor column = classes.unsqueeze(-1);
  return {logits, column.clamp_min(0).to(at::kLong), column.ge(0),
          column.ne(SigmoidFocal::kLeftOut).to(logits.scalar_type())};
}

// How the rows of logits (rows, K) are cut. A device's kernels are the faster the more they are given.
struct Blocks {
  explicit Blocks(const at::Tensor& logits)
      : all(logits.size(0)),
        rows(logits.is_cpu() ? std::max<int64_t>(1, kBlockLogits / logits.size(1)) : std::max<int64_t>(1, all)),
        count((all + rows - 1) / rows) {}
  at::Tensor of(const at::Tensor& tensor, int64_t block) const {
    const int64_t begin = block * rows;
    return tensor.narrow(0, begin, std::min(rows, all - begin));
  }
  int64_t all, rows, count;
};

at::Tensor sum_of(const Rows& rows, double alpha, double gamma) {
  const at::Tensor at_class = rows.logits.gather(-1, rows.index);
  const at::Tensor absent = terms(rows.logits, gamma).sum(-1, /*keepdim=*/true).mul_(1 - alpha);
  const at::Tensor change = terms(at_class.neg(), gamma).mul_(alpha).sub_(terms(at_class, gamma), 1 - alpha);
  return absent.add_(change.mul_(rows.has_class)).mul_(rows.counts).sum();
}

void fill_gradient(at::Tensor out, const Rows& rows, const at::Tensor& upstream, double alpha, double gamma) {
  at::mul_out(out, slopes(rows.logits, gamma), rows.counts.mul(upstream).mul_(1 - alpha));
  const at::Tensor of_class = slopes(rows.logits.gather(-1, rows.index).neg(), gamma).mul_(upstream).mul_(-alpha);
  out.scatter_(-1, rows.index, at::where(rows.has_class, of_class, out.gather(-1, rows.index)));
}

// logits (rows, K), classes (rows)
struct FocalLoss : torch::autograd::Function<FocalLoss> {
  static Variable forward(AutogradContext* context, const Variable& logits, const Variable& classes, double alpha,
                          double gamma) {
    context->save_for_backward({logits, classes});
    context->saved_data["alpha"] = alpha;
    context->saved_data["gamma"] = gamma;
    const Blocks blocks(logits);
    const at::Tensor sums = at::empty({blocks.count}, logits.options());
    for (int64_t i = 0; i < blocks.count; ++i)
      sums.select(0, i).copy_(sum_of(rows_of(blocks.of(logits, i), blocks.of(classes, i)), alpha, gamma));
    return sums.sum();
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const double alpha = context->saved_data["alpha"].toDouble(), gamma = context->saved_data["gamma"].toDouble();
    const Blocks blocks(saved[0]);
    const at::Tensor out = at::empty_like(saved[0]);
    for (int64_t i = 0; i < blocks.count; ++i)
      fill_gradient(blocks.of(out, i), rows_of(blocks.of(saved[0], i), blocks.of(saved[1], i)), upstream[0], alpha,
                    gamma);
    return {out, Variable(), Variable(), Variable()};
  }
};

}  // namespace

at::Tensor focal_loss(const SigmoidFocal& op, const at::Tensor& logits, const at::Tensor& classes) {
  return FocalLoss::apply(logits.flatten(0, -2), classes.flatten(), op.alpha, op.gamma);
}

}  // namespace tbd::pytorch
