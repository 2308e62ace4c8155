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

Interval scaled(Interval interval, double by) { return {interval.low * by, interval.high * by}; }

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
  std::vector<double> times, busy;
  for (const StepUse& use : profile.step_use) {
    times.push_back(use.seconds);
    busy.push_back(use.busy_seconds);
  }
  ProfileIntervals out;
  const auto positive = [](const std::vector<double>& x) {
    return !x.empty() && std::ranges::all_of(x, [](double v) { return v > 0; });
  };
  if (!positive(times) || !positive(busy)) return out;
  out.compute = throughput(times, busy).interval;
  if (out.compute) out.compute->high = std::min(1.0, out.compute->high);
  if (profile.flops.empty() || !(profile.flops.front().flops > 0)) return out;
  const FlopUse& use = profile.flops.front();
  const auto of = [](const std::vector<double>& x, std::optional<double> value) -> std::optional<Interval> {
    const Throughput rate = throughput(x, 1.0);
    if (!value || !rate.interval) return std::nullopt;
    return scaled(*rate.interval, *value / rate.value);
  };
  out.active = of(busy, use.active);
  out.window = of(times, use.window);
  return out;
}

}  // namespace tbd
