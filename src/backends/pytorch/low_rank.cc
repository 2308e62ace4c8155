// Two all-reduces a call: of the thin left factors together with what is not compressed, then of the right ones.
#include "backends/pytorch/low_rank.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "base/philox.h"
#include "base/text.h"

namespace tbd::pytorch {
namespace {

at::Tensor as_matrix(const at::Tensor& gradient) { return gradient.view({gradient.size(0), -1}); }

}  // namespace

struct LowRankSum::Kept {
  at::Tensor right, error;  // (m, columns), (n, m)
  uint64_t number = 0;      // of its draws
};

LowRankSum::LowRankSum(int64_t columns, int64_t ranks, Sum sum, Sum tell)
    : columns_(columns), ranks_(ranks), sum_(std::move(sum)), tell_(std::move(tell)) {}
LowRankSum::~LowRankSum() = default;

at::Tensor LowRankSum::told(at::Tensor made) const {
  if (tell_) tell_(made);
  return made;
}

// Sums them as one and writes the sums back.
void LowRankSum::sum_together(const std::vector<at::Tensor>& tensors) const {
  if (tensors.empty()) return;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.reshape(-1));
  const at::Tensor all = told(at::cat(flat));
  sum_(all);
  int64_t begin = 0;
  for (const at::Tensor& tensor : tensors) {
    tensor.copy_(all.narrow(0, begin, tensor.numel()).view(tensor.sizes()));
    begin += tensor.numel();
  }
}

void make_orthonormal(const at::Tensor& matrix) {
  constexpr int kTwice = 2;  // the second time removes what rounding left: Giraud et al. 2005
  for (int64_t i = 0; i < matrix.size(1); ++i) {
    const at::Tensor column = matrix.select(1, i);
    for (int time = 0; time < kTwice; ++time) {
      for (int64_t j = 0; j < i; ++j) {
        const at::Tensor before = matrix.select(1, j);
        column.sub_(before.mul(before.dot(column)));
      }
      const double length = column.norm().item<double>();
      if (length > 0) column.div_(length);
    }
  }
}

bool LowRankSum::pays(const at::Tensor& gradient) const {
  if (gradient.dim() < 2 || gradient.numel() == 0) return false;
  const int64_t n = gradient.size(0), m = gradient.numel() / n;
  return (n + m) * columns_ < n * m;
}

// A column that vanished would stay so, as would the left one that is made from it.
void LowRankSum::draw_vanished(Kept& kept) const {
  for (int64_t column = 0; column < columns_; ++column) {
    const at::Tensor right = kept.right.select(1, column);
    if (right.norm().item<double>() != 0) continue;
    const Philox random(static_cast<uint64_t>(column), cat("low rank/", kept.number++));
    at::Tensor drawn = at::zeros(right.sizes(), at::kDouble);
    for (int64_t i = 0; i < drawn.numel(); ++i)
      drawn.data_ptr<double>()[i] = random.uniform(static_cast<uint64_t>(i)) - 0.5;
    right.copy_(drawn);
  }
}

LowRankSum::Kept& LowRankSum::kept_of(const at::Tensor& parameter, const at::Tensor& matrix) {
  std::unique_ptr<Kept>& kept = kept_[parameter.unsafeGetTensorImpl()];
  if (!kept)
    kept = std::make_unique<Kept>(Kept{.right = told(at::zeros({matrix.size(1), columns_}, matrix.options())),
                                       .error = told(at::zeros_like(matrix))});
  return *kept;
}

void LowRankSum::apply(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  struct Product {
    Kept& kept;
    at::Tensor matrix, left;
  };
  std::vector<Product> products;
  std::vector<at::Tensor> lefts, rights;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!pays(gradients[i])) {
      lefts.push_back(gradients[i]);
      continue;
    }
    const at::Tensor matrix = as_matrix(gradients[i]);
    Kept& kept = kept_of(parameters[i], matrix);
    draw_vanished(kept);
    matrix.add_(kept.error);
    lefts.push_back(told(at::matmul(matrix, kept.right)));
    products.push_back({kept, matrix, lefts.back()});
  }
  sum_together(lefts);
  for (const Product& each : products) {
    make_orthonormal(each.left);
    each.kept.right = told(at::matmul(each.matrix.t(), each.left));
    rights.push_back(each.kept.right);
  }
  sum_together(rights);
  for (const Product& each : products) {
    const at::Tensor sum = told(at::matmul(each.left, each.kept.right.t()));
    each.kept.error = told(each.matrix.sub(sum, 1.0 / static_cast<double>(ranks_)));
    each.matrix.copy_(sum);
  }
}

}  // namespace tbd::pytorch
