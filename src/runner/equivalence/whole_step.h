// Whole steps beside the nodes: outputs, loss and gradients after one step; weights, buffers and optimizer state after
// three. The bounds are what PyTorch's own float32 shows for the same tensor.
#pragma once
#include "runner/equivalence/verdict.h"

namespace tbd {

inline constexpr int64_t kWholeSteps = 3;

// Of one training: after the first and after the last step.
struct WholeStep {
  TensorMap first, last;
};

class WholeReference {
 public:
  explicit WholeReference(WholeStep exact);
  void add_float32_run(const WholeStep& run);  // widens the bounds
  // `rounded`: what further a tensor may lie off, relative (rounded_decays in update_rule.h).
  GateResult judge(const WholeStep& got, const std::map<std::string, double>& rounded = {}) const;

 private:
  struct Spread {
    double error = 0, factor = 0;
  };
  enum class Rule { compared, bounded, left_out };
  Rule rule_of(const std::string& tensor) const;
  void judge_tensor(const std::string& name, const HostTensor& exact, const TensorMap& got, double further,
                    GateResult& result) const;

  WholeStep exact_;
  std::map<std::string, Spread> spread_;
  double largest_gradient_ = 0;              // 2-norm
  std::vector<std::string> zero_gradients_;  // parameters whose gradient is 0 but for rounding
};

// Each float32 element times 1 + ulps 2^-23 or 1 - ulps 2^-23. Masks and norms stay.
TensorMap moved_by(int ulps, const TensorMap& tensors, uint64_t seed);

}  // namespace tbd
