// The update rules of docs/conventions.md, Optimizers, over CNTK's arrays. CNTK's own learners take decay and schedules
// in other forms (docs/backends.md), so each rule is one loop here. Scalars come from graph/schedule.h.
#pragma once
#include "backends/cntk/weights.h"
#include "graph/schedule.h"

namespace tbd::cntk {

// The update of one phase. Parameters stand in the order of its groups, as in Phase::wrt.
class UpdateRule {
 public:
  UpdateRule(const Update& update, Weights& weights);
  // Clips, decays and updates all groups; `gradients` are overwritten.
  void apply(std::span<const Array> gradients, const UpdateScalars& scalars);

 private:
  struct Trained {
    Array weight, first, second;  // momentum or exp_avg, exp_avg_sq; empty where the rule has none
    double weight_decay, lr_scale;
  };
  Update update_;
  std::vector<Trained> tensors_;
};

// The average e = d e + (1 - d) w of weights and float buffers.
class Average {
 public:
  Average(double decay, const std::vector<std::string>& names, Weights& weights);
  void apply();

 private:
  double decay_;
  std::vector<std::pair<Array, Array>> pairs_;  // weight, average
};

// y += x
void add(const Array& x, const Array& y);
void clear(const Array& x);

}  // namespace tbd::cntk
