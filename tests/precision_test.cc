// Mixed precision of every network in PyTorch, on a CPU for correctness: from the same weights on the same inputs the
// loss is that of fp32 to the low type's rounding (Inception in bf16: 2.2 %), and twelve updates of the fp32 masters
// lead about as far: loss scaling skips some at first, until its scale fits (of Inception more than half); without
// unscaling they would lead thousands of times as far.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "built_workers.h"
#include "record/safetensors.h"
#include "runner/equivalence/check.h"
#include "runner/step.h"

namespace tbd {

// In words: the bytes of a parameter, addresses among them, would name each test anew.
void PrintTo(const TinyConfig& tiny, std::ostream* out) { *out << tiny.model << " " << tiny.config; }

namespace {

class MixedPrecision : public testing::TestWithParam<TinyConfig> {
 protected:
  void SetUp() override {
    settings_ = built_settings();
    if (std::ranges::none_of(settings_.workers, [](const auto& entry) { return entry.key == "pytorch"; }))
      GTEST_SKIP() << "no worker of PyTorch is built";
  }
  StepResult step(const Precision& precision, int64_t steps, double lr) {
    StepOptions options{.cell = {.model = GetParam().model,
                                 .config = GetParam().config,
                                 .batch = 4,
                                 .precision = precision,
                                 .dropout = DropoutMode::kOff,
                                 .seed = 1}};
    options.steps = steps;
    options.lr = lr;
    options.save_weights = folder_.path() / "weights";
    options.out = folder_.path() / "out";
    return run_step(options, settings_);
  }
  // Of the first step, which has one phase; where it runs that several times, always with the same weights.
  double loss(const Precision& precision) {
    const std::map<std::string, double> losses = step(precision, 1, 0).losses;
    EXPECT_EQ(losses.size(), 1u);
    return losses.begin()->second;
  }
  // Euclidean length of what twelve steps change.
  double way(const Precision& precision) {
    step(precision, 12, 1e-3);
    const TensorMap before = read_safetensors(folder_.path() / "weights"),
                    after = read_safetensors(folder_.path() / "out");
    double squares = 0;
    for (const auto& [name, tensor] : after) {
      if (!name.starts_with("param/")) continue;
      EXPECT_EQ(tensor.dtype(), DType::f32) << name << ": masters are fp32";
      const auto from = as_doubles(before.at(name.substr(name.find('/') + 1))), to = as_doubles(tensor);
      for (size_t i = 0; i < to.size(); ++i) squares += (to[i] - from[i]) * (to[i] - from[i]);
    }
    return std::sqrt(squares);
  }

  TemporaryFolder folder_{"tbd-precision"};
  RunnerSettings settings_;
};

// Relative. WGAN-GP's penalty is 10 (norm - 1)^2: an error r of a norm of 0.75 is one of 6 r of it (in bf16: 5.2 %).
double rounding(const std::string& model) { return model == "wgan_gp" ? 0.08 : 0.03; }

TEST_P(MixedPrecision, MatchesFp32WithinRounding) {
  const double fp32 = loss(Precision::kFp32), full = way(Precision::kFp32);
  for (const Precision& precision : {Precision::kBf16, Precision::kFp16}) {
    EXPECT_NEAR(loss(precision), fp32, rounding(GetParam().model) * std::abs(fp32)) << precision;
    EXPECT_NEAR(std::log2(way(precision) / full), 0, 2) << precision;
  }
}
INSTANTIATE_TEST_SUITE_P(Networks, MixedPrecision, testing::ValuesIn(tiny_configs()),
                         [](const auto& info) { return info.param.model + "_" + info.param.config; });

}  // namespace
}  // namespace tbd
