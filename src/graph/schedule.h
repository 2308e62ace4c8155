// Learning rates, bias corrections and the loss scale, evaluated in double here and nowhere else (docs/conventions.md,
// Optimizers).
#pragma once
#include "graph/program.h"

namespace tbd {

// lr at `step` (from 1) for a global batch of `batch` samples. Epochs count from 0: floor((step - 1) / steps an epoch),
// steps an epoch = max(1, floor(epoch_samples / batch)). Unit::sample: x samples are ceil(x / batch) steps, those of an
// epoch too (its last batch counts). Throws Error(invalid) on a schedule without what it needs.
double learning_rate(const Schedule& schedule, int64_t step, int64_t batch);

// What an update needs beside tensors.
struct UpdateScalars {
  double lr = 0;
  double correction1 = 1, correction2 = 1;  // 1 - beta^t of Adam's moments; t counts applied updates from 1
  bool first = false;                       // the first update of this phase: momentum starts as the gradient
};
UpdateScalars update_scalars(const Update& update, int64_t step, int64_t applied_updates, int64_t batch,
                             std::optional<double> lr_override = {});

// Dynamic loss scale: starts at 65536, doubles after 2000 clean updates, halves on a non-finite gradient, whose update
// is skipped. Micikevicius et al. 2018, arXiv:1710.03740, section 3.2.
class LossScale {
 public:
  double value() const { return scale_; }
  void update(bool found_non_finite);

 private:
  double scale_ = 65536;
  int64_t clean_ = 0;
};

}  // namespace tbd
