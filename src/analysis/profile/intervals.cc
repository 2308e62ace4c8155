// U and F step by step, and how far they may be off. A ratio of totals with residuals t_i - w_i / X is what
// throughput() computes: with busy time as the work its rate is U, with FLOPs as the work it is F times the roof.
#include <algorithm>
#include <span>

#include "analysis/profile/parts.h"

namespace tbd {
namespace {

// The part of them that may touch the span: activities are by begin, and those of one thread do not overlap.
std::span<const Activity> from(std::span<const Activity> activities, TimeSpan span) {
  const auto end = std::ranges::lower_bound(activities, span.end, {}, &Activity::begin);
  return {activities.begin(), end};
}

// The interval of `middle`, moved to `value` with its shape kept.
std::optional<Interval> around(double value, const std::optional<Interval>& interval, double middle) {
  if (!interval) return std::nullopt;
  return Interval{interval->low * value / middle, interval->high * value / middle};
}

// Of one launch.
struct LaunchSteps {
  std::vector<double> times, work;
};

bool positive(const std::vector<LaunchSteps>& launches) {
  const auto all = [](const std::vector<double>& x) {
    return !x.empty() && std::ranges::all_of(x, [](double v) { return v > 0; });
  };
  return !launches.empty() &&
         std::ranges::all_of(launches, [&](const LaunchSteps& each) { return all(each.times) && all(each.work); });
}

// Of `value`, which is the ratio of their totals, work over time, but for a factor.
std::optional<Interval> interval_of(double value, const std::vector<LaunchSteps>& launches) {
  LaunchSteps all;
  std::vector<Throughput> each;
  for (const LaunchSteps& launch : launches) {
    all.times.insert(all.times.end(), launch.times.begin(), launch.times.end());
    all.work.insert(all.work.end(), launch.work.begin(), launch.work.end());
    each.push_back(throughput(launch.times, launch.work));
  }
  if (std::ssize(launches) < kFewestLaunches) {
    const Throughput steps = throughput(all.times, all.work);
    return around(value, steps.interval, steps.value);
  }
  const LaunchesThroughput between = combined(each);
  return around(value, between.interval, between.value);
}

}  // namespace

std::vector<StepUse> step_use(const RankEvents& rank, const std::vector<TimeSpan>& windows) {
  const Trace& trace = *rank.trace;
  std::vector<StepUse> uses;
  for (const TimeSpan& window : windows) {
    size_t first = 0;  // no earlier activity ends after the step's begin
    std::vector<int64_t> begins;
    for (const uint32_t step : rank.steps)
      if (trace.begins()[step] >= window.begin && trace.end(step) <= window.end) begins.push_back(trace.begins()[step]);
    for (size_t i = 0; i < begins.size(); ++i) {
      const TimeSpan span{begins[i], i + 1 < begins.size() ? begins[i + 1] : window.end};
      while (first < rank.activities.size() && rank.activities[first].end <= span.begin) ++first;
      const MaskTimes masks = sweep(from(rank.activities, span).subspan(first), span);
      uses.push_back({1e-9 * static_cast<double>(span.length()), 1e-9 * static_cast<double>(masks.busy(kComputeBits))});
    }
  }
  return uses;
}

ProfileIntervals intervals_of(const Profile& profile) {
  std::vector<LaunchSteps> compute, active, window;
  double seconds = 0, busy_seconds = 0;
  for (const std::vector<StepUse>& launch : profile.step_use) {
    std::vector<double> times, busy;
    for (const StepUse& use : launch) {
      times.push_back(use.seconds);
      busy.push_back(use.busy_seconds);
      seconds += use.seconds;
      busy_seconds += use.busy_seconds;
    }
    const std::vector<double> ones(launch.size(), 1.0);
    compute.push_back({times, busy});
    active.push_back({busy, ones});
    window.push_back({times, ones});
  }
  ProfileIntervals out;
  if (!positive(compute)) return out;
  out.compute = interval_of(busy_seconds / seconds, compute);
  if (out.compute) out.compute->high = std::min(1.0, out.compute->high);
  if (profile.flops.empty() || !(profile.flops.front().flops > 0)) return out;
  const FlopUse& use = profile.flops.front();
  if (use.active) out.active = interval_of(*use.active, active);
  if (use.window) out.window = interval_of(*use.window, window);
  return out;
}

}  // namespace tbd
