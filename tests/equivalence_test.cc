// The gates on the real worker: what is equal passes, what differs is named and can be repeated, faults are faults.
#include "runner/equivalence/equivalence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "built_workers.h"
#include "measure/gpu/cuda_driver.h"
#include "record/reader.h"
#include "record/safetensors.h"
#include "runner/equivalence/check.h"
#include "runner/equivalence/verified.h"
#include "runner/run.h"
#include "runner/worker_process.h"
#include "toy_programs.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EquivalenceGates : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    const auto is_pytorch = [](const WorkerEntry& entry) { return entry.framework == "pytorch"; };
    std::erase_if(settings_.workers, [&](const WorkerEntry& entry) { return !is_pytorch(entry); });
    if (settings_.workers.empty()) GTEST_SKIP() << "no pytorch worker is built";
    step_ = worker_stepper(settings_.workers.front(), settings_);
  }

  // Groups, accumulation, clip and ema; every norm; masks and lamb; host results; two phases and a second derivative;
  // padding, attention, a gradient that is 0; recurrence, whose nodes have several results; boxes and regions.
  void expect_every_form_passes(const Stepper& step) {
    for (const char* toy : {"conv_forms", "norms", "tied", "host_labels", "penalty", "tokens", "recurrent", "speech",
                            "growing", "boxes", "regions"}) {
      const Equivalence equivalence(toy_program(toy), {.batch = 4}, step_);
      const FrameworkVerdict verdict = equivalence.judge({"pytorch", "", step, ImageLayout::kNhwc});
      EXPECT_TRUE(verdict.passed()) << toy << ": " << to_json(verdict).dump(1);
      EXPECT_GT(verdict.gates.front().compared, 10) << toy;
    }
  }

  TemporaryFolder folder_{"tbd-equivalence"};
  RunnerSettings settings_;
  Stepper step_;
};

TEST_F(EquivalenceGates, ProgramsOfEveryFormPass) { expect_every_form_passes(step_); }

TEST_F(EquivalenceGates, ProgramsOfEveryFormPassOnAGpu) {
  if (const CudaDevices gpus = cuda_devices(); gpus.count == 0) GTEST_SKIP() << "no GPU answers: " << gpus.reason;
  expect_every_form_passes(worker_stepper(settings_.workers.front(), settings_, Device("cuda:0")));
}

TEST_F(EquivalenceGates, AVerdictIsKeptAndStandsInTheRecordsThatFollow) {
  settings_.workers.push_back(settings_.workers.front());
  settings_.workers.back().key = "pytorch@twin";
  const Workload cell{.model = "resnet50", .config = "tiny", .batch = 2};
  Workload twin = cell, low = cell;
  twin.framework = "pytorch@twin";
  low.precision = Precision::kBf16;
  int asked = 0;
  const auto count = [&](const std::string&) { ++asked; };
  EXPECT_THAT(check_missing(std::vector{cell, low}, settings_, count), testing::IsEmpty());
  EXPECT_EQ(asked, 0) << "one framework alone is compared with nothing";
  EXPECT_THAT(check_missing(std::vector{cell, twin}, settings_, count), testing::IsEmpty());
  EXPECT_GT(asked, 0);
  asked = 0;
  check_missing(std::vector{cell, twin, low}, settings_, count);
  EXPECT_EQ(asked, 0) << "the verdicts are kept";
  const RunOptions smoke{.effort = Effort::smoke, .out = folder_.path() / "out", .peaks = false};
  for (const CellRun& run : run_cells({cell, low}, smoke, settings_))
    EXPECT_EQ(read_record(run.record).run.verified, true) << run.record;
}

// A bias that is forgotten, as a stepper sees it from outside.
TEST_F(EquivalenceGates, ADifferenceCanBeRepeatedFromItsFolder) {
  const Stepper forgetful = [this](const StepJob& job) {
    StepJob changed = job;
    for (StepRun& run : changed.runs)
      for (auto& [name, tensor] : run.weights)
        if (name.ends_with(".bias")) tensor = HostTensor(tensor.dtype(), tensor.shape());
    return step_(changed);
  };
  const Equivalence equivalence(toy_program("mlp20"), {.batch = 4}, step_);
  const FrameworkVerdict verdict = equivalence.judge({"pytorch", "2.0", forgetful}, folder_.path() / "differences");
  ASSERT_NE(verdict.guilty(), nullptr);
  EXPECT_EQ(verdict.guilty()->where, "linear 'layers.0'");
  const fs::path folder = verdict.reproduction;
  ASSERT_EQ(folder.filename(), "pytorch-layers.0");
  const TensorMap expected = read_safetensors(folder / "expected.safetensors");
  EXPECT_EQ(expected.at("output/n0").dtype(), DType::f64);
  EXPECT_EQ(read_safetensors(folder / "got.safetensors").at("output/n0").dtype(), DType::f32);
  validate(read_program(read_file(folder / "program.json"), "program.json"), {{"N", 1}});
  const std::string script = read_file(folder / "reproduce.py");
  EXPECT_THAT(script, HasSubstr("y = F.linear(x0, weight, bias)"));
  EXPECT_EQ(std::system(cat("python3 -m py_compile '", (folder / "reproduce.py").string(), "'").c_str()), 0);
}

TEST_F(EquivalenceGates, AFrameworkThatFailsIsAFaultAndNoVerdict) {
  const Stepper broken = [](const StepJob&) -> std::vector<StepRunResult> {
    throw WorkerFault({.kind = OutcomeKind::failed, .reason = "killed by signal 9", .repro = ""});
  };
  const Equivalence equivalence(toy_program("frozen"), {.batch = 4}, step_);
  const FrameworkVerdict verdict = equivalence.judge({"pytorch", "", broken});
  EXPECT_FALSE(verdict.passed());
  EXPECT_THAT(verdict.fault, HasSubstr("signal 9"));
}

TEST_F(EquivalenceGates, LowPrecisionIsRefused) {
  EXPECT_THROW(Equivalence(toy_program("frozen"), {.precision = Precision::kBf16}, step_), Error);
}

}  // namespace
}  // namespace tbd
