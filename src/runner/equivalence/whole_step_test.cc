#include "runner/equivalence/whole_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "runner/equivalence/equivalence.h"
#include "runner/equivalence/update_rule.h"
#include "runner/equivalence/verified.h"

namespace tbd {
namespace {

HostTensor doubles(const std::vector<double>& values) {
  return HostTensor(DType::f64, Shape{static_cast<int64_t>(values.size())}, std::span<const double>(values));
}

WholeStep step(double gradient, double noise) {
  return {{{"grad/w", doubles({gradient, 0})}, {"grad/b", doubles({noise})}}, {{"param/b", doubles({noise})}}};
}

TEST(WholeSteps, AreBoundedByFourTimesTheSpreadOfFloat32) {
  WholeReference reference(step(1, 1e-17));
  reference.add_float32_run(step(1.01, 1e-8));
  EXPECT_TRUE(reference.judge(step(1.039, 1e-8)).failed.empty());
  const GateResult judged = reference.judge(step(1.041, 1e-8));
  ASSERT_EQ(judged.failed.size(), 2u);  // error and factor
  EXPECT_EQ(judged.failed[0].where, "grad/w");
}

TEST(WholeSteps, AGradientThatIsZeroIsOnlyBoundedAndItsWeightLeftOut) {
  WholeReference reference(step(1, 1e-17));
  EXPECT_TRUE(reference.judge(step(1, 9e-6)).failed.empty());
  EXPECT_EQ(reference.judge(step(1, 2e-5)).failed.size(), 1u);
}

TEST(WholeSteps, AMissingTensorFails) {
  WholeReference reference(step(1, 1));
  WholeStep got = step(1, 1);
  got.last.clear();
  ASSERT_EQ(reference.judge(got).failed.size(), 1u);
  EXPECT_EQ(reference.judge(got).failed[0].where, "param/b");
}

// As PyTorch's fused AdamW on a GPU has it: 1 - 0.999 computed from a beta in float32 is 1.3e-5 too small.
TEST(WholeSteps, ABetaInFloat32IsARoundingOfItsSlotAlone) {
  const Optimizer adamw = {.kind = Optimizer::Kind::adamw};
  const double off = 1 - static_cast<double>(1 - 0.999F) / (1 - 0.999);
  ASSERT_GT(off, 1.2e-5);
  EXPECT_LT(off, rounded_decay(adamw, "state/w/exp_avg_sq", DType::f32));
  EXPECT_LT(rounded_decay(adamw, "state/w/exp_avg_sq", DType::f32), 3e-5);
  EXPECT_EQ(rounded_decay(adamw, "param/w", DType::f32), 0);
  EXPECT_EQ(rounded_decay({}, "state/w/exp_avg_sq", DType::f32), 0);
  Program program;
  program.phases.push_back({.update = {.optimizer = adamw}});
  const auto with = [](const char* name, double value) { return WholeStep{{}, {{name, doubles({value})}}}; };
  for (const auto& [name, passes] : {std::pair("state/w/exp_avg_sq", true), {"param/w", false}}) {
    const WholeReference reference(with(name, 1));
    const auto rounded = rounded_decays(program, with(name, 1).last);
    EXPECT_EQ(reference.judge(with(name, 1 - off), rounded).failed.empty(), passes) << name;
    EXPECT_FALSE(reference.judge(with(name, 1 - 5e-5), rounded).failed.empty()) << name;
    EXPECT_FALSE(reference.judge(with(name, 1 - off)).failed.empty()) << name << " where no kernel rounds so";
  }
}

TEST(WholeSteps, MovedValuesKeepMasksLabelsAndZeros) {
  const std::vector<float> ones(8, 1);
  const std::vector<int32_t> labels = {3};
  const HostTensor x(DType::f32, {8}, std::span<const float>(ones));
  const TensorMap moved = moved_by(
      2, {{"x", x}, {"mask/d", x}, {"label", HostTensor(DType::i32, {1}, std::span<const int32_t>(labels))}}, 1);
  EXPECT_EQ(largest_difference(moved.at("mask/d"), x), 0);
  EXPECT_EQ(moved.at("label").as<int32_t>()[0], 3);
  EXPECT_FLOAT_EQ(largest_difference(moved.at("x"), x), 0x1p-22F);
}

TEST(PeakRate, IsTheHighestOfTheSchedule) {
  EXPECT_DOUBLE_EQ(peak_rate({.base = 0.1}, 8), 0.1);
  EXPECT_DOUBLE_EQ(peak_rate({.base = 0.1, .warmup = 50}, 8), 0.1);
  const Schedule noam = {.kind = Schedule::Kind::noam, .base = 1, .warmup = 4000, .width = 512};
  EXPECT_NEAR(peak_rate(noam, 8), 1 / std::sqrt(512 * 4000.0), 1e-5);
}

TEST(Verdicts, AreKeptByNetworkLibraryAndPrecision) {
  TemporaryFolder folder;
  RunnerSettings settings;
  settings.cache = folder.path();
  const VerdictKey key{.model_hash = "abc"};
  WorkerEntry entry{.key = "pytorch", .library_sha256 = "1"};
  EXPECT_EQ(verified(key, entry, settings), std::nullopt);
  FrameworkVerdict verdict{.framework = "pytorch", .version = ""};
  verdict.gates = {{.gate = Gate::node, .worst = {}, .failed = {}}};
  store_verdict(key, entry, verdict, settings);
  EXPECT_EQ(verified(key, entry, settings), true);
  EXPECT_EQ(verified({.model_hash = "abd"}, entry, settings), std::nullopt);
  EXPECT_EQ(verified({.model_hash = "abc", .precision = Precision::kBf16}, entry, settings), std::nullopt);
  EXPECT_EQ(verified({.model_hash = "abc", .layout = ImageLayout::kNhwc}, entry, settings), std::nullopt);
  verdict.gates[0].add({.error = 2, .bound = 1});
  store_verdict(key, entry, verdict, settings);
  EXPECT_EQ(verified(key, entry, settings), false);
  verdict.fault = "killed";
  verdict.gates.clear();
  store_verdict(key, entry, verdict, settings);  // says nothing of the network
  EXPECT_EQ(verified(key, entry, settings), false);
  entry.library_sha256 = "2";
  EXPECT_EQ(verified(key, entry, settings), std::nullopt);
}

}  // namespace
}  // namespace tbd
