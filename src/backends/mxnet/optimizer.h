// The update rules of docs/conventions.md, Optimizers: MXNet's own optimizer ops where they equal them to 1e-6, else
// composed of elementwise ops. Scalars come from graph/schedule.h.
#pragma once
#include "backends/mxnet/weights.h"
#include "graph/schedule.h"

namespace tbd::mxnet {

// What an update of one tensor needs beside the optimizer.
struct Rates {
  double lr, weight_decay, correction1, correction2;
};

struct Trained {
  Array weight, gradient;
  double weight_decay = 0, lr_scale = 1;
  Held *first = nullptr, *second = nullptr;  // momentum or exp_avg, exp_avg_sq; null where the rule has none
};

// The update of one phase. Parameters stand in the order of its groups, as in Phase::wrt.
class UpdateRule {
 public:
  UpdateRule(const Update& update, Weights& weights, std::span<const Array> gradients);
  // Clips, decays and updates all groups. Gradients may be overwritten.
  void apply(const UpdateScalars& scalars);

 private:
  Update update_;
  std::vector<Trained> tensors_;
};

// "adam_update": which MXNet ops an optimizer takes for tensors of this type, for the record.
std::string optimizer_path(const Optimizer& optimizer, DType dtype);
// Whether MXNet's op, whose scalars are single precision, equals the rule to 1e-6.
bool has_native_update(const Optimizer& optimizer, DType dtype);

// g + decay w.
Array with_decay(const Trained& t, double decay);

// g *= min(1, c / (|g| + 1e-6)) over all tensors together; g /= max(1, |g|) as LAMB wants.
void clip_by_global_norm(std::span<const Trained> tensors, double limit);
void normalise_by_global_norm(std::span<const Trained> tensors);

// The average e = d e + (1 - d) w of weights and float buffers.
class Average {
 public:
  Average(double decay, const std::vector<std::string>& names, Weights& weights);
  void apply();

 private:
  double decay_;
  std::vector<std::pair<Held*, Held*>> pairs_;  // weight, average
};

}  // namespace tbd::mxnet
