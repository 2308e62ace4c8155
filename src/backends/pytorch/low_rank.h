// Sums of matrices over ranks as products of two thin ones: PowerSGD, Vogels et al. 2019, arXiv:1905.13727, algorithms
// 1 and 2, of sums where that has means.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace at {
class Tensor;
}

namespace tbd::pytorch {

class LowRankSum {
 public:
  // In place, over all ranks, the same bits on each.
  using Sum = std::function<void(const at::Tensor&)>;
  // `tell` hears of each tensor that is made for the sums, of what is kept too.
  LowRankSum(int64_t columns, int64_t ranks, Sum sum, Sum tell = {});
  ~LowRankSum();

  // `gradients`: contiguous, one of each parameter, in the same order on all ranks. A matrix M of n x m, of which
  // n m > (n + m) columns, becomes P Q^T: Q of the last time, P = sum of M Q, made orthonormal, then Q = sum of M^T P.
  // What that leaves out of this rank's share is added to its next M (error feedback). All others become their sums.
  void apply(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients);

 private:
  struct Kept;
  Kept& kept_of(const at::Tensor& parameter, const at::Tensor& matrix);
  bool pays(const at::Tensor& gradient) const;
  void draw_vanished(Kept& kept) const;
  at::Tensor told(at::Tensor made) const;
  void sum_together(const std::vector<at::Tensor>& tensors) const;

  int64_t columns_, ranks_;
  Sum sum_, tell_;
  std::map<const void*, std::unique_ptr<Kept>> kept_;  // by parameter
};

// Each column of unit length and at a right angle to those before it; a column of zeros stays.
void make_orthonormal(const at::Tensor& matrix);

}  // namespace tbd::pytorch
