// Do frameworks train the same network? The rules: docs/equivalence.md.
#pragma once
#include <filesystem>

#include "runner/equivalence/node_local.h"
#include "runner/equivalence/padding.h"
#include "runner/equivalence/phase_case.h"
#include "runner/equivalence/step_list.h"
#include "runner/equivalence/stepper.h"
#include "runner/equivalence/whole_step.h"

namespace tbd {

struct EquivalenceOptions {
  int64_t batch = 2;
  uint64_t seed = 0;
  Precision precision = Precision::kFp32;  // of the frameworks: fp32, or fp64 where they have it
};

// A framework that is judged.
struct Subject {
  std::string framework, version;
  Stepper step;
  ImageLayout layout = ImageLayout::kNchw;
  Mode mode = {};             // empty: its usual one
  bool rounds_betas = false;  // as kernels of a GPU may: rounded_decay
};

// The reference of one program: PyTorch in float64, and what its float32 shows.
class Equivalence {
 public:
  // `reference` steps PyTorch; launches about nine workers a phase, two at a time, and eight for a step list. Programs
  // with dropout are judged twice: with dropout off and with given masks. Throws WorkerFault or Error when the
  // reference cannot be had.
  Equivalence(const Program& program, const EquivalenceOptions& options, const Stepper& reference);

  // Two launches a phase, and one for a step list. A framework that fails is a verdict with a fault. Where a node
  // differs and `reproduction` is not empty, a folder that repeats the difference is written there.
  FrameworkVerdict judge(const Subject& subject, const std::filesystem::path& reproduction = {}) const;

 private:
  struct Case {
    std::string label;  // "train", "train, masks given"
    Program program;    // of one phase, host results injected
    Bindings bindings;
    double lr = 0;
    TensorMap weights, inputs;
    std::optional<Padding> padding;
    std::optional<WholeReference> whole;
    NodeProgram nodes;
    NodeReference node_reference;
    std::vector<TensorMap> rule;  // after each of its steps
  };
  Case make_case(const Program& program, const std::string& label, const Stepper& reference) const;
  void draw(Case& made, const Stepper& reference) const;
  TensorMap tap(Case& made, const Stepper& reference) const;
  void judge_case(const Case& each, const Subject& subject, const std::filesystem::path& reproduction,
                  FrameworkVerdict& verdict) const;

  EquivalenceOptions options_;
  std::vector<Case> cases_;
  std::optional<StepList> list_;
};

// The highest learning rate of a schedule: at step 1 of a warm-up an update may lie below float32's resolution.
double peak_rate(const Schedule& schedule, int64_t batch);

}  // namespace tbd
