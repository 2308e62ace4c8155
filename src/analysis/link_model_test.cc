#include "analysis/link_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/philox.h"

namespace tbd {
namespace {

constexpr double kAlpha = 100e-6;                       // s a step
constexpr double kBeta = 0.5e-9;                        // s a byte on the wire
constexpr double kGamma32 = 0.4e-9, kGamma16 = 1.2e-9;  // s a byte

double law(DType dtype, int64_t bytes, int64_t workers) {
  const Algorithm ring = algorithm_of("gloo", workers);
  const double gamma = dtype == DType::f32 ? kGamma32 : kGamma16;
  return kAlpha * ring.steps + (kBeta * ring.wire + gamma) * static_cast<double>(bytes);
}

using Law = std::function<double(DType, int64_t bytes, int64_t workers)>;
struct LinkNoise {
  double spread = 0.05;   // of the time: all of it comes on top
  double slow_share = 0;  // of repetitions that wait for the next tick
  double tick = 4e-3;     // seconds
  uint32_t repeat = 0;
};

LinkSweep made_sweep(int64_t workers, const std::vector<DType>& dtypes, const LinkNoise& noise,
                     const Law& times = law) {
  LinkSweep out{.engine = "gloo", .workers = workers};
  uint32_t series = 0;
  for (const DType dtype : dtypes)
    for (int64_t bytes = 256; bytes <= int64_t{64} << 20; bytes *= 4) {
      const Philox random(7, "link noise", noise.repeat, series++);
      LinkTimes& size = out.sizes.emplace_back(LinkTimes{dtype, bytes, {}});
      for (uint64_t i = 0; i < 40; ++i) {
        double seconds = times(dtype, bytes, workers) * (1 + noise.spread * (random.uniform(2 * i) - 0.1));
        if (random.uniform(2 * i + 1) < noise.slow_share) seconds = std::ceil(seconds / noise.tick) * noise.tick;
        size.times_ns.push_back(std::llround(1e9 * seconds));
      }
    }
  return out;
}

double slope(DType dtype) { return law(dtype, 1, 2) - law(dtype, 0, 2); }

// LinkNoise begins 10 % of its width below the law, so the law is the lower decile.
TEST(LinkModel, FindsTheLawOfOneSweep) {
  int alphas = 0, slopes = 0;
  constexpr int kRepeats = 120;
  for (uint32_t repeat = 0; repeat < kRepeats; ++repeat) {
    const LinkSweep one = made_sweep(2, {DType::f32}, {.repeat = repeat});
    const LinkFit fit = fit_link(std::span(&one, 1));
    ASSERT_TRUE(fit.model) << fit.withheld;
    EXPECT_FALSE(fit.model->beta) << "one number of workers does not tell it from gamma";
    EXPECT_NEAR(fit.model->alpha.value, kAlpha, 0.02 * kAlpha);
    EXPECT_NEAR(fit.model->gamma.at(DType::f32).value, slope(DType::f32), 0.02 * slope(DType::f32));
    alphas += fit.model->alpha.interval.contains(kAlpha);
    slopes += fit.model->gamma.at(DType::f32).interval.contains(slope(DType::f32));
  }
  EXPECT_GE(alphas, kRepeats * 9 / 10);
  EXPECT_GE(slopes, kRepeats * 9 / 10);
}

TEST(LinkModel, TellsTheWireFromTheAddingWhereWorkersDiffer) {
  const LinkSweep all[] = {made_sweep(2, {DType::f32, DType::bf16}, {.spread = 0.005}),
                           made_sweep(8, {DType::f32, DType::bf16}, {.spread = 0.005})};
  const LinkFit fit = fit_link(all);
  ASSERT_TRUE(fit.model && fit.model->beta) << fit.withheld;
  EXPECT_EQ(fit.model->workers, (std::vector<int64_t>{2, 8}));
  EXPECT_NEAR(fit.model->alpha.value, kAlpha, 0.02 * kAlpha);
  EXPECT_NEAR(fit.model->beta->value, kBeta, 0.1 * kBeta);
  EXPECT_NEAR(fit.model->gamma.at(DType::f32).value, kGamma32, 0.1 * kGamma32);
  EXPECT_NEAR(fit.model->gamma.at(DType::bf16).value, kGamma16, 0.1 * kGamma16);
  for (const int64_t workers : {2, 4, 64})
    EXPECT_NEAR(*fit.model->seconds(DType::bf16, 1 << 24, workers) / law(DType::bf16, 1 << 24, workers), 1, 0.03)
        << workers;
}

TEST(LinkModel, PredictsOnlyWhatItKnows) {
  const LinkSweep one = made_sweep(2, {DType::f32}, {});
  const LinkModel model = fit_link(std::span(&one, 1)).model.value();
  EXPECT_NEAR(*model.seconds(DType::f32, 1 << 20, 2) / law(DType::f32, 1 << 20, 2), 1, 0.03);
  EXPECT_EQ(model.seconds(DType::f32, 1 << 20, 4), std::nullopt) << "its slope is of 2 workers";
  EXPECT_EQ(model.seconds(DType::bf16, 1 << 20, 2), std::nullopt);
}

// Most repetitions of the small sizes wait for the next tick: their median is the tick.
TEST(LinkModel, IsNotFooledByTicks) {
  const LinkSweep one = made_sweep(2, {DType::f32}, {.slow_share = 0.6});
  const LinkFigures small = figures_of(one.sizes.front(), algorithm_of("gloo", 2));
  EXPECT_NEAR(small.median, 4e-3, 1e-6);
  EXPECT_NEAR(small.slow_share, 0.6, 0.2);
  const LinkFit fit = fit_link(std::span(&one, 1));
  ASSERT_TRUE(fit.model) << fit.withheld;
  EXPECT_NEAR(fit.model->alpha.value, kAlpha, 0.05 * kAlpha);
}

TEST(LinkModel, IsWithheldWhereNoLineDescribesTheTimes) {
  const LinkSweep one = made_sweep(
      2, {DType::f32}, {}, [](DType, int64_t bytes, int64_t) { return 1e-6 * std::sqrt(static_cast<double>(bytes)); });
  const LinkFit fit = fit_link(std::span(&one, 1));
  EXPECT_FALSE(fit.model);
  EXPECT_GT(fit.worst_residual.value(), kWorstResidual);
  EXPECT_NE(link_sentence(fit).find("No straight line describes these times"), std::string::npos) << fit.withheld;
}

TEST(LinkModel, NeedsThreeSizes) {
  LinkSweep one = made_sweep(2, {DType::bf16}, {});
  one.sizes.resize(2);
  EXPECT_EQ(fit_link(std::span(&one, 1)).withheld, "A law needs 3 sizes of each type, and there are 2 of bf16.");
  one.sizes.clear();
  EXPECT_EQ(fit_link(std::span(&one, 1)).withheld, "Nothing was measured.");
}

TEST(LinkModel, IsOfOneEngine) {
  LinkSweep two[] = {made_sweep(2, {DType::f32}, {}), made_sweep(2, {DType::f32}, {})};
  two[1].engine = "grpc";
  EXPECT_THROW((void)fit_link(two), Error);
}

// A column that would help with a factor below 0 stays out, and so does one that others make up.
TEST(LinkModel, HasNoParameterBelowZero) {
  const Philox random(3, "rows");
  for (uint64_t trial = 0; trial < 200; ++trial) {
    std::vector<std::vector<double>> rows(6, std::vector<double>(4));
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < 4; ++j) rows[i][j] = random.normal(trial * 24 + i * 4 + j);
    const std::vector<double> x = non_negative_solution(rows);
    std::vector<double> gradient(4);  // of the sum of squares: 0 where x is above 0, not below 0 elsewhere
    for (const auto& row : rows) {
      double rest = -1;
      for (size_t j = 0; j < 4; ++j) rest += row[j] * x[j];
      for (size_t j = 0; j < 4; ++j) gradient[j] += 2 * rest * row[j];
    }
    for (size_t j = 0; j < 4; ++j) {
      ASSERT_GE(x[j], 0);
      if (x[j] > 0)
        ASSERT_NEAR(gradient[j], 0, 1e-8);
      else
        ASSERT_GE(gradient[j], -1e-8);
    }
  }
  EXPECT_EQ(non_negative_solution({{1, 1}, {1, 1}}), (std::vector<double>{1, 0}));
}

TEST(LinkFigures, HaveTheFactorsOfNcclTests) {
  const LinkTimes megabyte{DType::f32, 1'000'000, std::vector<int64_t>(20, 1'000'000)};
  for (const auto& [engine, workers, factor] : {std::tuple("gloo", 2, 1.0), {"grpc", 4, 1.5}, {"kvstore", 4, 1.0}}) {
    const LinkFigures figures = figures_of(megabyte, algorithm_of(engine, workers));
    EXPECT_DOUBLE_EQ(figures.algbw, 1e9);
    EXPECT_DOUBLE_EQ(figures.busbw, factor * 1e9) << engine;
    EXPECT_EQ(figures.slow_share, 0);
  }
}

}  // namespace
}  // namespace tbd
