// The gates can fail: every known difference between frameworks is planted, caught, and named. It is planted in every
// framework whose worker starts as soon as PyTorch's: each difference takes several starts.
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
#include "runner/lowerings.h"
#include "runner/worker_process.h"
#include "toy_programs.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

// Says why a worker cannot run a program.
class Asked {
 public:
  Asked(const WorkerEntry& entry, const RunnerSettings& settings)
      : settings_(settings), worker_(entry, settings, settings.environment, {}, folder_.path() / "log") {
    worker_.hello();
  }
  ~Asked() { worker_.bye(); }
  std::string cannot(const Program& program) {  // empty: it can
    const protocol::Check asked{with_precision(program, Precision::kFp32)};
    return lowering_from(worker_.ask<protocol::CheckReply>(asked, "checking", settings_.deadlines.load)).reason;
  }

 private:
  const RunnerSettings& settings_;
  TemporaryFolder folder_{"tbd-mutations"};
  WorkerProcess worker_;
};

class Mutations : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings();
    std::erase_if(settings_.workers, [](const WorkerEntry& entry) {
      const KnownFramework* known = find_framework(entry.framework);
      return !known || known->start_seconds > usual_start_seconds(kReference);
    });
    if (settings_.workers.empty() || settings_.workers.front().framework != kReference)
      GTEST_SKIP() << "no " << kReference << " worker is built";
  }

  // Each in every framework that can run the program with it.
  void expect_caught(const Program& program, const std::vector<Mutation>& mutations) {
    const Equivalence equivalence(program, {.batch = 4}, stepper(settings_.workers.front()));
    for (const WorkerEntry& entry : settings_.workers) {
      SCOPED_TRACE(entry.framework);
      Asked asked(entry, settings_);
      if (!asked.cannot(program).empty()) continue;
      size_t planted = 0;
      for (const Mutation& mutation : mutations) {
        Program changed = program;
        if (mutation.rewrite) mutation.rewrite(changed);
        if (!asked.cannot(changed).empty()) continue;
        ++planted;
        expect_caught(equivalence, mutation, entry);
      }
      EXPECT_GT(2 * planted, mutations.size());
      RecordProperty(entry.framework, cat(planted, " of ", mutations.size()));
    }
  }

  void expect_caught(const Equivalence& equivalence, const Mutation& mutation, const WorkerEntry& entry) {
    SCOPED_TRACE(mutation.name);
    const Stepper step = stepper(entry);
    Subject subject{entry.framework, "mutated", mutated(mutation, step)};
    subject.layout = usual_layout(entry.framework);
    const FrameworkVerdict verdict = equivalence.judge(subject);
    EXPECT_EQ(verdict.fault, "");
    EXPECT_EQ(verdict.passed(), mutation.guilty.empty()) << to_json(verdict).dump(1);
    if (mutation.guilty.empty() || !verdict.guilty()) return;
    EXPECT_THAT(verdict.guilty()->where, HasSubstr(mutation.guilty)) << sentence(*verdict.guilty());
    for (const Finding& finding : verdict.gates.front().failed)  // no other node is accused
      EXPECT_THAT(finding.where, HasSubstr(mutation.guilty));
  }

  Stepper stepper(const WorkerEntry& entry) {
    return [this, &entry](const StepJob& job) { return remembered(job, entry); };
  }

  // A mutation that touches results alone needs no launch of its own.
  std::vector<StepRunResult> remembered(const StepJob& job, const WorkerEntry& entry) {
    std::string key =
        cat(entry.key, to_json(job.program).dump(), job.precision, job.layout, job.threads, job.runs.size());
    for (const StepRun& run : job.runs)
      for (const TensorMap* given : {&run.weights, &run.inputs})
        for (const auto& [name, tensor] : *given)
          key.append(name).append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    {
      const std::lock_guard lock(guard_);
      if (const auto found = done_.find(key); found != done_.end()) return found->second;
    }
    std::vector<StepRunResult> results = worker_stepper(entry, settings_)(job);
    const std::lock_guard lock(guard_);
    return done_[key] = std::move(results);
  }

  static constexpr const char* kReference = "pytorch";
  RunnerSettings settings_;  // its first worker is the reference's
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
