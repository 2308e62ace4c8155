#include "runner/equivalence/step_list.h"

#include <algorithm>

#include "graph/passes.h"
#include "runner/equivalence/phase_case.h"
#include "runner/equivalence/update_rule.h"

namespace tbd {
namespace {

constexpr int64_t kSteps = 2;  // a phase that begins with the second step runs once
constexpr uint64_t kMovedLaunches = 4;

StepRun run_of(const TensorMap& weights, const TensorMap& inputs) {
  return {.weights = weights,
          .inputs = inputs,
          .stops = {{kSteps, {"loss", "term/", "output/", "grad/"}}, {kSteps, {"param/", "buffer/", "state/"}}}};
}

WholeStep first_and_last(StepRunResult&& result) { return {std::move(result.at.front()), std::move(result.at.back())}; }

}  // namespace

bool has_step_list(const Program& program) {
  const bool several = program.step.size() > 1 || program.step.front().repeat > 1;
  return several && !has_host_calls(program);
}

StepList::StepList(const Program& program, const Bindings& bindings, uint64_t seed, const Stepper& reference)
    : program_(with_dropout(program, DropoutMode::kOff)), bindings_(bindings), seed_(seed) {
  StepJob drawing{.program = program_, .bindings = bindings_, .seed = seed_};
  drawing.runs = {{.stops = {{1, {"loss"}}}}};
  StepRunResult drawn = std::move(reference(drawing).front());
  weights_ = std::move(drawn.weights);
  inputs_ = std::move(drawn.inputs);
  std::erase_if(inputs_, [](const auto& input) { return input.first.find("norm/") != std::string::npos; });

  StepJob exact = job(Precision::kFp64, ImageLayout::kNchw, 0);
  exact.runs = {run_of(weights_, inputs_)};
  whole_.emplace(first_and_last(std::move(reference(exact).front())));
  // A launch for each: the steps of a worker count on, and phases begin with the first ones.
  const auto widen = [&](const ImageLayout& layout, int64_t threads, const StepRun& run) {
    StepJob each = job(Precision::kFp32, layout, threads);
    each.runs = {run};
    whole_->add_float32_run(first_and_last(std::move(reference(each).front())));
  };
  widen(ImageLayout::kNchw, 1, run_of(weights_, inputs_));
  widen(ImageLayout::kNhwc, 2, run_of(weights_, inputs_));
  for (uint64_t i = 0; i < kMovedLaunches; ++i)
    widen(ImageLayout::kNchw, 1, run_of(moved_by(2, weights_, 2 * i), moved_by(2, inputs_, 2 * i + 1)));
}

StepJob StepList::job(const Precision& precision, const ImageLayout& layout, int64_t threads) const {
  return {.program = with_precision(program_, precision),
          .bindings = bindings_,
          .precision = precision,
          .layout = layout,
          .threads = threads,
          .seed = seed_};
}

GateResult StepList::judge(const StepJob& like, const Stepper& step, bool rounds_betas) const {
  StepJob judged = job(like.precision, like.layout, 0);
  judged.mode = like.mode;
  judged.runs = {run_of(weights_, inputs_)};
  const WholeStep got = first_and_last(std::move(step(judged).front()));
  return whole_->judge(got, rounds_betas ? rounded_decays(program_, got.last) : std::map<std::string, double>());
}

}  // namespace tbd
