#include "measure/peaks/kept.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace tbd {
namespace {

Peaks roofs(double flop_rate, double bandwidth, double on_core = 1) {
  const auto rate = [&](double median) { return PeakRate{2, 3, median, median, on_core}; };
  const auto of = [&](const char* kernel, const char* type, const char* unit, double median) {
    return PeakResult{.kernel = kernel, .type = type, .unit = unit, .reason = "", .one = {}, .all = rate(median)};
  };
  return {.kernels = {of("fma256", "fp32", "vector", 0.9 * flop_rate), of("fma512", "fp32", "vector", flop_rate),
                      of("fma512", "fp64", "vector", flop_rate / 2), of("triad", "bytes", "memory", 0.8 * bandwidth),
                      of("triad_nt", "bytes", "memory", bandwidth)},
          .cores = {0, 1},
          .sample_seconds = 0.05,
          .samples = 3,
          .array_bytes = 1 << 20};
}

bool holds(const Peaks& check) { return judge_kept(roofs(100, 10), check, "").holds; }

TEST(KeptPeaks, AreReusedWithinTheDriftLimit) {
  EXPECT_TRUE(holds(roofs(102, 10.2)));
  EXPECT_FALSE(holds(roofs(104, 10)));
  EXPECT_FALSE(holds(roofs(96, 10)));
  EXPECT_FALSE(holds(roofs(100, 10.5)));
  EXPECT_FALSE(holds(roofs(100, 9.5)));
  Peaks elsewhere = roofs(100, 10);
  elsewhere.cores = {0};
  EXPECT_FALSE(holds(elsewhere));
}

TEST(KeptPeaks, IgnoreBandwidthLostToOtherWork) {
  EXPECT_TRUE(holds(roofs(100, 4, 0.5)));
  EXPECT_FALSE(holds(roofs(100, 20, 0.5))) << "the kept rate was too low";
  EXPECT_FALSE(holds(roofs(90, 10, 0.5))) << "arithmetic is timed on the cores alone";
}

TEST(KeptPeaks, ACheckSaysWhetherTheCoresComputedMoreOrLess) {
  const auto seen = [](double flop_rate) { return to_json(judge_kept(roofs(100, 10), roofs(flop_rate, 10), "")); };
  EXPECT_NEAR(seen(70)["arithmetic_change"].get<double>(), -0.3, 1e-9);
  EXPECT_NEAR(seen(130)["arithmetic_change"].get<double>(), 0.3, 1e-9);
  EXPECT_NEAR(seen(70)["drift"].get<double>(), seen(130)["drift"].get<double>(), 1e-9) << "which has no direction";
}

TEST(KeptPeaks, ACheckRunsTheLoopsThatAreTheRoofs) {
  const PeakOptions options = check_options(roofs(100, 10));
  EXPECT_EQ(options.kernels, (std::vector<std::string>{"fma512", "triad_nt"}));
  EXPECT_EQ(options.cores, (std::vector<int>{0, 1}));
  EXPECT_EQ(options.array_bytes, 1 << 20);
  EXPECT_FALSE(options.one_thread);
}

// Measures what it is told to, and counts.
struct Meter {
  Peaks whole = roofs(100, 10), check = roofs(101, 10);
  int wholes = 0, checks = 0;
  StartPeaks start(const std::filesystem::path& folder, const Json& identity) {
    return kept_or_measured(folder, identity, {.cores = {0, 1}},
                            [&](const PeakOptions& options) {
                              ++(options.kernels.empty() ? wholes : checks);
                              return std::optional(options.kernels.empty() ? whole : check);
                            })
        .value();
  }
};

TEST(KeptPeaks, AreMeasuredOnceAndCheckedAfterwards) {
  const TemporaryFolder folder;
  const Json identity = {{"boot", "a"}};
  Meter meter;
  EXPECT_FALSE(meter.start(folder.path(), identity).check);
  const StartPeaks second = meter.start(folder.path(), identity);
  EXPECT_EQ(meter.wholes, 1);
  EXPECT_EQ(meter.checks, 1);
  ASSERT_TRUE(second.check);
  EXPECT_TRUE(second.check->holds);
  EXPECT_NEAR(second.check->drift.value(), 0.01, 1e-9);
  EXPECT_EQ(second.check->measured.size(), 20u);
  EXPECT_EQ(to_json(second.peaks), to_json(meter.whole));
}

TEST(KeptPeaks, AreMeasuredAgainAndReplacedAfterDrift) {
  const TemporaryFolder folder;
  const Json identity = {{"boot", "a"}};
  Meter meter;
  meter.start(folder.path(), identity);
  meter.whole = meter.check = roofs(80, 10);
  const StartPeaks second = meter.start(folder.path(), identity);
  EXPECT_FALSE(second.check->holds);
  EXPECT_EQ(isa_roof(second.peaks, "fp32"), 80);
  EXPECT_TRUE(meter.start(folder.path(), identity).check->holds);
  EXPECT_EQ(meter.wholes, 2);
}

TEST(KeptPeaks, OfAnotherBootOrFromABrokenFileAreNotUsed) {
  const TemporaryFolder folder;
  Meter meter;
  meter.start(folder.path(), {{"boot", "a"}});
  meter.start(folder.path(), {{"boot", "b"}});
  EXPECT_EQ(meter.wholes, 2);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) write_file(file.path(), "{\"iden");
  meter.start(folder.path(), {{"boot", "a"}});
  EXPECT_EQ(meter.wholes, 3);
  meter.start({}, {{"boot", "a"}});
  meter.start(folder.path(), nullptr);
  EXPECT_EQ(meter.wholes, 5);
  EXPECT_EQ(meter.checks, 0);
}

TEST(KeptPeaks, AreNotStoredAfterACancelledMeasurement) {
  const TemporaryFolder folder;
  const auto cancelled = [](const PeakOptions&) { return std::optional<Peaks>(); };
  EXPECT_FALSE(kept_or_measured(folder.path(), {{"boot", "a"}}, {.cores = {0, 1}}, cancelled));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(KeptPeaks, DependOnCoresSamplingAndTool) {
  const PeakOptions options{.cores = {0, 1}};
  const Json one = peaks_identity({{"model", "x"}}, options, "tbd 1");
  if (one.is_null()) GTEST_SKIP() << "the system does not say which boot it is";
  EXPECT_EQ(one, peaks_identity({{"model", "x"}}, options, "tbd 1"));
  EXPECT_NE(one, peaks_identity({{"model", "y"}}, options, "tbd 1"));
  EXPECT_NE(one, peaks_identity({{"model", "x"}}, {.cores = {0}}, "tbd 1"));
  EXPECT_NE(one, peaks_identity({{"model", "x"}}, {.cores = {0, 1}, .samples = 3}, "tbd 1"));
  EXPECT_NE(one, peaks_identity({{"model", "x"}}, options, "tbd 2"));
}

}  // namespace
}  // namespace tbd
