// The gates can fail: every known difference between frameworks is planted, caught, and named.
#include "mutations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "base/files.h"
#include "base/json.h"
#include "built_workers.h"
#include "graph/passes.h"
#include "models/model.h"
#include "runner/equivalence/equivalence.h"
#include "toy_programs.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

class Mutations : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings();
    const auto is_pytorch = [](const WorkerEntry& entry) { return entry.framework == "pytorch"; };
    if (std::ranges::none_of(settings_.workers, is_pytorch)) GTEST_SKIP() << "no pytorch worker is built";
    const Stepper worker = worker_stepper(*std::ranges::find_if(settings_.workers, is_pytorch), settings_);
    step_ = [this, worker](const StepJob& job) { return remembered(job, worker); };
  }

  void expect_caught(const Program& program, const std::vector<Mutation>& mutations) {
    const Equivalence equivalence(program, {.batch = 4}, step_);
    for (const Mutation& mutation : mutations) {
      SCOPED_TRACE(mutation.name);
      const FrameworkVerdict verdict = equivalence.judge({"pytorch", "mutated", mutated(mutation, step_)});
      EXPECT_EQ(verdict.fault, "");
      EXPECT_EQ(verdict.passed(), mutation.guilty.empty()) << to_json(verdict).dump(1);
      if (mutation.guilty.empty() || !verdict.guilty()) continue;
      EXPECT_THAT(verdict.guilty()->where, HasSubstr(mutation.guilty)) << sentence(*verdict.guilty());
      for (const Finding& finding : verdict.gates.front().failed)  // no other node is accused
        EXPECT_THAT(finding.where, HasSubstr(mutation.guilty));
    }
  }

  // A mutation that touches results alone needs no launch of its own.
  std::vector<StepRunResult> remembered(const StepJob& job, const Stepper& worker) {
    std::string key = cat(to_json(job.program).dump(), job.precision, job.layout, job.threads, job.runs.size());
    for (const StepRun& run : job.runs)
      for (const TensorMap* given : {&run.weights, &run.inputs})
        for (const auto& [name, tensor] : *given)
          key.append(name).append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    {
      const std::lock_guard lock(guard_);
      if (const auto found = done_.find(key); found != done_.end()) return found->second;
    }
    std::vector<StepRunResult> results = worker(job);
    const std::lock_guard lock(guard_);
    return done_[key] = std::move(results);
  }

  RunnerSettings settings_;
  Stepper step_;
  std::mutex guard_;
  std::map<std::string, std::vector<StepRunResult>> done_;
};

TEST_F(Mutations, OfOpsLossAndSgdAreCaughtAtTheRightPlace) {
  const Update sgd = {.optimizer = {.momentum = 0.9}, .groups = {{.weight_decay = 1e-4}}, .schedule = {.base = 0.01}};
  expect_caught(mutable_program(sgd), sgd_mutations());
}

TEST_F(Mutations, OfAdamwAreCaught) {
  const Update adamw = {
      .optimizer = {.kind = Optimizer::Kind::adamw}, .groups = {{.weight_decay = 0.01}}, .schedule = {.base = 1e-3}};
  expect_caught(mutable_program(adamw), adamw_mutations());
}

TEST_F(Mutations, OfAttentionPositionsAndTheirLossAreCaughtAtTheRightPlace) {
  expect_caught(with_dropout(toy_program("tokens"), DropoutMode::kOff), token_mutations());
}

TEST_F(Mutations, OfRecurrenceAreCaughtAtTheRightPlace) {
  expect_caught(toy_program("recurrent"), recurrent_mutations());
}

TEST_F(Mutations, OfGroupedHeadsTiedWeightsAndClippingAreCaught) {
  expect_caught(find_model("llama").config("tiny").program(), llama_mutations());
}

TEST_F(Mutations, OfGatedUnitsAreCaught) { expect_caught(gated_program(), gated_mutations()); }

TEST_F(Mutations, OfSpeechAreCaughtAtTheRightPlace) { expect_caught(toy_program("speech"), speech_mutations()); }

TEST_F(Mutations, OfTheGradientPenaltyAreCaught) { expect_caught(toy_program("penalty"), penalty_mutations()); }

TEST_F(Mutations, OfValuesAndPlanesAreCaught) {
  expect_caught(find_model("minigo").config("tiny").program(), board_mutations());
}

TEST_F(Mutations, OfDetectorsAreCaughtAtTheRightPlace) {
  expect_caught(with_dropout(toy_program("boxes"), DropoutMode::kMask), detection_mutations());
}
TEST_F(Mutations, OfRegionsAreCaughtAtTheRightPlace) { expect_caught(toy_program("regions"), region_mutations()); }

TEST_F(Mutations, OfPaddingRowsAndLambAreCaught) { expect_caught(lookup_program(), lookup_mutations()); }

}  // namespace
}  // namespace tbd
