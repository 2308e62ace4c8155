// The step list of a program with several phases, or one that repeats: which phases run, from which step on, how often,
// on which inputs, and one upon the other's weights. Each phase alone is judged elsewhere.
#pragma once
#include "runner/equivalence/stepper.h"
#include "runner/equivalence/whole_step.h"

namespace tbd {

// Whether a step is more than one run of one phase. Not where a host function takes part: its results are injected into
// phases that stand alone.
bool has_step_list(const Program& program);

// All phases together, dropout off, through two steps at their own rates: losses, outputs and gradients of each phase's
// last run, then weights, buffers and slots. Bounds as in whole_step.h.
class StepList {
 public:
  // Eight launches of PyTorch by `reference`.
  StepList(const Program& program, const Bindings& bindings, uint64_t seed, const Stepper& reference);
  // `like` says precision, layout and mode of what is judged; `rounds_betas` as of a Subject.
  GateResult judge(const StepJob& like, const Stepper& step, bool rounds_betas) const;

 private:
  StepJob job(const Precision& precision, const ImageLayout& layout, int64_t threads) const;

  Program program_;
  Bindings bindings_;
  uint64_t seed_;
  TensorMap weights_, inputs_;
  std::optional<WholeReference> whole_;
};

}  // namespace tbd
