// What a run says of a workload on machines that others use too: 200 runs of each kind, fixed seeds. A machine is a
// slow-down over time, with what the kernel and the speed probe would see of it. Printed as properties; the table
// stands in docs/statistics.md.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "analysis/cell.h"
#include "analysis/sample_record.h"
#include "analysis/throughput.h"
#include "base/testing_sanitized.h"
#include "stats/compare.h"
#include "stats/effort.h"

namespace tbd {
namespace {

constexpr double kLaunchSeconds = 15, kGapSeconds = 4, kStepSeconds = 0.12, kStepNoise = 0.01;
constexpr double kLevelSd = 0.003;  // of a launch's own level: memory layout, addresses
// More than seen on a quiet virtual machine of two cores (docs/statistics.md).
constexpr double kProbeDips = 0.2, kReadNoise = 0.2;
constexpr double kHostNoise = 0.1;  // of half a second, on a host whose other guests share its caches
constexpr int64_t kLaunches = 3;
constexpr uint32_t kRuns = 200;
constexpr const char* kPlainBuild = "hundreds of runs of the same code: the plain build makes them";

// At an instant of the run. `slow` multiplies step times.
struct Load {
  double slow = 1, runqueue = 0, steal = 0, foreign = 0;
  bool seen_by_probe = false;
};
using Machine = std::function<Load(double seconds, const Philox& random)>;

// Intervals of `length` seconds, busy with this probability, independently.
bool busy(double seconds, double length, double probability, const Philox& random) {
  return random.uniform(static_cast<uint64_t>(seconds / length) + 1'000'000) < probability;
}

Load competitor(double slow) { return {.slow = slow, .runqueue = 1 - 1 / slow, .foreign = 0.3}; }
Load neighbour(double slow) { return {.slow = slow, .seen_by_probe = true}; }

struct Scenario {
  const char* name;
  Machine machine;
};
const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {"quiet", [](double, const Philox&) { return Load{}; }},
      {"bursts of other work", [](double t, const Philox& r) { return busy(t, 2, 0.3, r) ? competitor(1.6) : Load{}; }},
      {"steal",
       [](double t, const Philox& r) { return busy(t, 5, 0.4, r) ? Load{.slow = 1.25, .steal = 0.2} : Load{}; }},
      {"a shared host, unseen",
       [](double t, const Philox& r) {
         return Load{.slow = std::exp(kHostNoise * r.normal(static_cast<uint64_t>(2 * t) + 3'000'000))};
       }},
      {"a ramp of heat, unseen", [](double t, const Philox&) { return Load{.slow = 1 + 0.12 * t / 60}; }},
      {"two levels, unseen", [](double t, const Philox& r) { return Load{.slow = busy(t, 9, 0.5, r) ? 1.4 : 1.0}; }},
      {"a neighbour on the sibling",
       [](double t, const Philox& r) { return busy(t, 8, 0.5, r) ? neighbour(1.7) : Load{}; }},
      {"a competitor all the time", [](double t, const Philox& r) {
         return competitor(1.8 + 0.4 * r.uniform(static_cast<uint64_t>(t) + 2'000'000));
       }}};
  return all;
}

// Rows of one launch that begins at `begin` of the run.
std::vector<StepRow> steps_on(const Machine& machine, double begin, double step_seconds, const Philox& random,
                              uint64_t launch) {
  std::vector<StepRow> rows;
  double now = 0, block = 0, foreign = 0;
  const double level = step_seconds * (1 + kLevelSd * random.normal(500'000 + launch));
  for (int64_t i = 1; now < kLaunchSeconds; ++i) {
    const Load load = machine(begin + now, random);
    const uint64_t at = launch * 10'000 + static_cast<uint64_t>(i);
    const double warm = i <= 4 ? 1.5 : 1;
    const double took = level * warm * load.slow * (1 + kStepNoise * random.normal(at));
    now += took;
    block += took;
    foreign += 2 * took * load.foreign;
    const double cpu = 2 * took / load.slow;
    StepRow row{.step = i,
                .completed_ns = std::llround(1e9 * now) + 1'000'000'000,
                .units = 8,
                .user_cpu_ns = std::llround(1e9 * cpu),
                .system_cpu_ns = 0,
                .runqueue_wait_ns = std::llround(1e9 * cpu * load.runqueue / (1 - load.runqueue)),
                .steal_ticks = std::llround(100 * 2 * took * load.steal)};
    if (block >= 0.5) {
      const double seen = load.seen_by_probe ? load.slow : 1;
      row.pause_ns = 0;
      const bool dip = random.uniform(at + 5'000'000) < kProbeDips;
      const double dipped = dip ? 0.5 + 0.47 * random.uniform(at + 6'000'000) : 1;
      row.fma_flop_rate = std::llround(118e9 / seen * dipped * (1 - 0.004 * std::abs(random.normal(at + 3'000'000))));
      row.read_byte_rate = std::llround(15e9 / seen * std::exp(kReadNoise * random.normal(at + 4'000'000)));
      row.foreign_ns = std::llround(1e9 * foreign);
      block = foreign = 0;
    }
    rows.push_back(row);
  }
  return rows;
}

// Launches of the workload take turns with those of another, as A B B A A B do.
Record run_on(const Machine& machine, uint32_t run, bool second, double step_seconds = kStepSeconds) {
  const Philox random(second ? 12 : 11, "run", run), shared(13, "machine", run);
  Record record = sample_record({.launches = kLaunches});
  constexpr std::array<int, kLaunches> kFirst = {0, 3, 4}, kSecond = {1, 2, 5};
  for (size_t i = 0; i < record.launches.size(); ++i) {
    const double begin = (second ? kSecond : kFirst).at(i) * (kLaunchSeconds + kGapSeconds);
    const Machine here = [&](double t, const Philox&) { return machine(t, shared); };
    record.launches[i].steps = steps_on(here, begin, step_seconds, random, i);
    const auto second_of_run = static_cast<int>(begin);
    record.launches[i].info.start =
        cat("2026-01-31T12:0", second_of_run / 60, second_of_run % 60 < 10 ? ":0" : ":", second_of_run % 60, "Z");
    record.launches[i].info.first_step_began_ns = 1'000'000'000;
    record.launches[i].info.cores = 2;
    record.launches[i].info.host = {};
  }
  return record;
}

void note(const char* scenario, const char* what, double value) {
  testing::Test::RecordProperty(cat(scenario, ": ", what), significant(value, 4));
}

struct Shares {
  double without_number = 0, covered = 0, covered_graded = 0, graded = 0, disturbed = 0;
};

bool covers(const CellResult& now, const CellResult& next) {
  const Measured& x = now["throughput"];
  return x.low && x.high && *x.low <= *next["throughput"].value && *next["throughput"].value <= *x.high;
}

// `next` of the same kind of machine, at another time.
Shares shares_of(const Scenario& scenario) {
  Shares shares;
  double alike = 0;
  for (uint32_t run = 0; run < kRuns; ++run) {
    const CellResult now = summarize(run_on(scenario.machine, run, false));
    const CellResult next = summarize(run_on(scenario.machine, run + 10'000, false));
    const bool numbers = now["throughput"].value && next["throughput"].value;
    shares.without_number += !numbers;
    if (!numbers) continue;
    const auto is_disturbed = [](const CellResult& cell) { return cell.judgement.grade == name(Grade::disturbed); };
    shares.disturbed += is_disturbed(now);
    shares.covered += covers(now, next);
    if (is_disturbed(now) || is_disturbed(next)) continue;
    ++alike;
    shares.covered_graded += covers(now, next);
  }
  shares.without_number /= kRuns;
  shares.covered /= kRuns;
  shares.disturbed /= kRuns;
  shares.covered_graded = alike > 0 ? shares.covered_graded / alike : 1;
  shares.graded = alike / kRuns;
  return shares;
}

TEST(Judging, IntervalOfEveryRunCoversTheNextRun) {
  if (kSanitized) GTEST_SKIP() << kPlainBuild;
  for (const Scenario& scenario : scenarios()) {
    const Shares shares = shares_of(scenario);
    note(scenario.name, "without a number", shares.without_number);
    note(scenario.name, "next run covered", shares.covered);
    note(scenario.name, "next run covered, neither disturbed", shares.covered_graded);
    note(scenario.name, "graded disturbed", shares.disturbed);
    EXPECT_EQ(shares.without_number, 0) << scenario.name;
    EXPECT_GE(shares.covered_graded, 0.90) << scenario.name;
    EXPECT_GE(shares.covered, 0.80) << scenario.name << ": of them one row says that it is disturbed, the other is not";
  }
}

// Two equal workloads that took turns on one machine: whichever is called faster is so falsely.
TEST(Judging, RanksEqualWorkloadsInAtMostOneRunOfTwenty) {
  if (kSanitized) GTEST_SKIP() << kPlainBuild;
  for (const Scenario& scenario : scenarios()) {
    double ranked = 0, compared = 0;
    for (uint32_t run = 0; run < kRuns; ++run) {
      const CellResult a = summarize(run_on(scenario.machine, run, false));
      const CellResult b = summarize(run_on(scenario.machine, run, true));
      if (!why_no_ratio(a, b).empty()) continue;
      ++compared;
      const Verdict found = compare_launches(a, b).value().verdict;
      ranked += found == Verdict::faster || found == Verdict::slower;
    }
    note(scenario.name, "compared", compared / kRuns);
    note(scenario.name, "falsely ranked", ranked / kRuns);
    EXPECT_EQ(compared, kRuns) << scenario.name << ": disturbed or not, launches took turns";
    EXPECT_LE(ranked / kRuns, 0.05) << scenario.name;
  }
}

// A workload half as long again, on a machine that is never quiet.
TEST(Judging, RanksUnequalWorkloadsThatWereDisturbedAllTheTime) {
  if (kSanitized) GTEST_SKIP() << kPlainBuild;
  const Scenario& busy = scenarios().back();
  double ranked = 0;
  for (uint32_t run = 0; run < kRuns; ++run) {
    const CellResult a = summarize(run_on(busy.machine, run, false));
    const CellResult b = summarize(run_on(busy.machine, run, true, 1.5 * kStepSeconds));
    EXPECT_EQ(a.judgement.grade, name(Grade::disturbed));
    ranked += compare_launches(a, b).value().verdict == Verdict::faster;
  }
  note(busy.name, "ranked truly", ranked / kRuns);
  EXPECT_GE(ranked / kRuns, 0.95);
}

// Undisturbed blocks are chosen by evidence other than their times, so that they are not the fast ones of many.
TEST(Judging, FindsTheUndisturbedLevelWithoutBias) {
  if (kSanitized) GTEST_SKIP() << kPlainBuild;
  for (const char* wanted : {"quiet", "bursts of other work", "steal", "a neighbour on the sibling"}) {
    const auto scenario =
        std::ranges::find_if(scenarios(), [&](auto& s) { return std::string_view(s.name) == wanted; });
    double sum = 0, count = 0;
    for (uint32_t run = 0; run < kRuns; ++run) {
      const CellResult cell = summarize(run_on(scenario->machine, run, false));
      if (cell.basis != Basis::undisturbed) continue;
      sum += std::log(*cell["throughput"].value / (8 / kStepSeconds));
      ++count;
    }
    note(wanted, "bias of the undisturbed level", sum / count);
    EXPECT_GT(count, 0.85 * kRuns) << wanted;
    EXPECT_NEAR(sum / count, 0, 0.01) << wanted;
  }
}

// The same workload for a minute and for twenty: more steps give no less.
TEST(Judging, ReportsThroughputForFewAndManySteps) {
  for (const Scenario& scenario : scenarios()) {
    int64_t fewer = 0, more = 0;
    for (uint32_t run = 0; run < 4; ++run) {
      fewer += summarize(run_on(scenario.machine, run, false, 0.5))["throughput"].value.has_value();
      more += summarize(run_on(scenario.machine, run, false, 0.01))["throughput"].value.has_value();
    }
    EXPECT_EQ(fewer, 4) << scenario.name;
    EXPECT_EQ(more, 4) << scenario.name;
  }
}

}  // namespace
}  // namespace tbd
