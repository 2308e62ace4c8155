#include "measure/peaks/peaks.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "measure/caches.h"
#include "measure/core_clock.h"
#include "measure/cores.h"
#include "measure/peaks/judge.h"
#include "measure/peaks/kernel.h"
#include "measure/peaks/team.h"

namespace tbd {
namespace {

PeakOptions tiny() { return {.sample_seconds = 0.002, .samples = 3, .array_bytes = 1 << 20}; }

TEST(Peaks, EveryKernelIsMeasuredOrSaysWhyNot) {
  const Peaks peaks = measure_peaks(tiny()).value();
  EXPECT_TRUE(peaks.shortened);
  EXPECT_FALSE(peaks.cores.empty());
  size_t measured = 0;
  for (const PeakResult& result : peaks.kernels) {
    EXPECT_NE(result.all.has_value(), !result.reason.empty()) << result.kernel;
    if (!result.all) continue;
    ++measured;
    EXPECT_GT(result.all->median, 1e8) << result.kernel;
    EXPECT_GE(result.all->best, result.all->median);
    EXPECT_EQ(result.all->threads, static_cast<int64_t>(peaks.cores.size()));
    EXPECT_GT(result.all->on_core, 0);
    ASSERT_TRUE(result.one) << result.kernel;
    EXPECT_EQ(result.one->threads, 1);
  }
  EXPECT_GE(measured, 2u);
  EXPECT_GT(bandwidth_roof(peaks).value_or(0), 1e8);
}

TEST(Peaks, JsonRoundTrips) {
  PeakOptions options = tiny();
  options.kernels = {"triad"};
  Peaks peaks = measure_peaks(options).value();
  merge_gemm(peaks, "fp32", 2e9);
  merge_gemm(peaks, "fp32", 1e9);
  EXPECT_EQ(peaks.gemm.at("fp32"), 2e9);
  EXPECT_EQ(to_json(peaks_from_json(to_json(peaks))), to_json(peaks));
}

TEST(Peaks, UnknownKernelIsRefusedWithTheNearest) {
  try {
    static_cast<void>(measure_peaks({.kernels = {"triat"}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("triad"), std::string::npos) << error.what();
  }
}

TEST(Peaks, ACancelledMeasurementEndsWithoutAResult) {
  PeakOptions options = tiny();
  int64_t asked = 0;
  options.cancelled = [&] { return ++asked > 5; };
  EXPECT_FALSE(measure_peaks(options));
  EXPECT_EQ(asked, 6);
}

Peaks made(double fma256, double fma512, double bf16) {
  Peaks peaks{.cores = {0, 1}};
  const auto add = [&](const char* kernel, const char* type, double one, double all) {
    peaks.kernels.push_back({.kernel = kernel,
                             .type = type,
                             .unit = "vector",
                             .one = PeakRate{1, 3, one, one},
                             .all = PeakRate{2, 3, all, all}});
  };
  add("fma256", "fp32", fma256 / 2, fma256);
  add("fma512", "fp32", fma512 / 2, fma512);
  add("avx512_bf16", "bf16", bf16 / 2, bf16);
  return peaks;
}

TEST(PeaksJudge, FlagsRatesOutsideTheSanityBands) {
  EXPECT_EQ(sanity(made(1, 2, 2), std::nullopt).size(), 2u);
  EXPECT_EQ(gate(0.0, sanity(made(1, 2, 2), std::nullopt)), PeaksGate::ok);
  EXPECT_EQ(gate(0.0, sanity(made(1, 1, 1), std::nullopt)), PeaksGate::flagged) << "a spill costs a factor";
  EXPECT_EQ(gate(0.0, sanity(made(1, 1, 2), 25)), PeaksGate::ok) << "Zen 4 has 256-bit multipliers";
  EXPECT_EQ(gate(0.0, sanity(made(1, 2, 2), 25)), PeaksGate::flagged);
}

TEST(PeaksJudge, FlagsAndWithholdsByDrift) {
  const Peaks before = made(1, 2, 2);
  EXPECT_NEAR(*drift(before, made(1, 2, 2.04)), 0.02, 1e-12);
  EXPECT_EQ(gate(drift(before, made(1, 2, 2.04)), {}), PeaksGate::ok);
  EXPECT_EQ(gate(drift(before, made(0.95, 2, 2)), {}), PeaksGate::flagged);
  EXPECT_EQ(gate(drift(before, made(1, 2.3, 2)), {}), PeaksGate::withheld);
  Peaks memory = before, slower = before;
  memory.kernels.push_back({.kernel = "triad", .type = "bytes", .unit = "memory", .all = PeakRate{2, 3, 10, 10}});
  slower.kernels.push_back({.kernel = "triad", .type = "bytes", .unit = "memory", .all = PeakRate{2, 3, 8, 8}});
  EXPECT_EQ(drift(memory, slower), 0.0);
  EXPECT_NEAR(*drift(memory, slower, Roof::memory), 0.2, 1e-12);
  Peaks other = before;
  other.cores = {0};
  EXPECT_FALSE(drift(before, other)) << "another thread set is another roof";
}

TEST(PeaksJudge, SharedCoresShowInThreadScaling) {
  Peaks peaks = made(1, 2, 2);
  EXPECT_TRUE(shared_cores(peaks).empty());
  peaks.kernels[0].all->median = 0.5 * 1.5;
  EXPECT_EQ(shared_cores(peaks), std::vector<std::string>{"fma256 fp32"});
}

TEST(PeaksJudge, RecordKeepsMeansAndLeavesOutTheUnknown) {
  Peaks before = made(1, 2, 4), after = made(1, 2.02, 4);
  merge_gemm(before, "fp32", 1.5);
  const Json json = peaks_for_record(before, after);
  EXPECT_DOUBLE_EQ(json["isa"]["fp32"].get<double>(), 2.01);
  EXPECT_DOUBLE_EQ(json["isa"]["bf16"].get<double>(), 4);
  EXPECT_FALSE(json["isa"].contains("fp64"));
  EXPECT_FALSE(json.contains("bandwidth"));
  EXPECT_EQ(json["gemm"]["fp32"], 1.5);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_NEAR(json["drift"].get<double>(), 0.01, 1e-12);
}

TEST(Team, RunsOnTheCoresItWasGivenAndPassesErrorsOn) {
  const std::vector<int> cpus = allowed_cpus();
  std::vector<std::vector<int>> seen(cpus.size());
  const TeamTime time = run_on_cores(cpus, [&](int64_t i) { seen[static_cast<size_t>(i)] = allowed_cpus(); });
  EXPECT_GT(time.wall_ns, 0);
  for (size_t i = 0; i < cpus.size(); ++i) EXPECT_EQ(seen[i], std::vector<int>{cpus[i]});
  EXPECT_THROW(run_on_cores(cpus, [](int64_t) { fail(ErrorKind::invalid, "x"); }), Error);
  EXPECT_THROW(run_on_cores({8000}, [](int64_t) {}), Error);
}

TEST(CoreClock, IsInAPlausibleRange) {
  if (const auto clock = measure_core_clock()) {
    EXPECT_GT(*clock, 2e8);
    EXPECT_LT(*clock, 1e10);
  }
  if (const auto tsc = measure_tsc_rate(0.001)) {
    EXPECT_GT(*tsc, 2e8);
  }
}

TEST(Caches, LastLevelIsCountedOncePerCache) {
  EXPECT_EQ(parse_cache_size("32768K"), 32 << 20);
  EXPECT_FALSE(parse_cache_size("K"));
  const std::vector<Cache> all = {
      {1, "Data", 32768, {0}}, {3, "Unified", 1 << 20, {0, 1}}, {3, "Unified", 1 << 20, {2, 3}}};
  EXPECT_EQ(last_level_bytes(all, {0, 1}), 1 << 20);
  EXPECT_EQ(last_level_bytes(all, {1, 2}), 2 << 20);
  EXPECT_FALSE(last_level_bytes({}, {0}));
}

}  // namespace
}  // namespace tbd
