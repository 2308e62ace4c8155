#include "stats/stable_phase.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr int64_t kShort = 20;               // elements below which nothing is segmented
constexpr int64_t kFirstSteps = 5;           // never stable in a segmented series
constexpr double kSameLevel = 0.01;          // relative difference of means that is none
constexpr double kDriftBeyondChance = 2.81;  // one series of two hundred, were its noise known exactly
constexpr int64_t kWarmUpPart = 3;           // one of so many parts of a series may be warming up
constexpr int64_t kLevelPart = 10;           // a level holds at least one of so many parts
constexpr size_t kLevelPoints = 2'000;       // most places where a level may begin

int64_t length(Series x) { return static_cast<int64_t>(x.size()); }
Series slice(Series x, int64_t begin, int64_t end) {
  return x.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

void require_units(Series step_times, Series units) {
  require(units.empty() || units.size() == step_times.size(), units.size(), " unit counts for ", step_times.size(),
          " steps");
  for (const double w : units) require(std::isfinite(w) && w > 0, "a step did ", w, " units");
}

// What is judged in place of a step: itself, or t_i - w_i / X + median t, with X the median rate.
std::vector<double> per_unit_residual(Series times, Series units) {
  std::vector<double> residual(times.begin(), times.end());
  if (units.empty()) return residual;
  std::vector<double> time_per_unit(times.begin(), times.end());
  for (size_t i = 0; i < times.size(); ++i) time_per_unit[i] /= units[i];
  const double typical = median(time_per_unit), level = median(times);
  for (size_t i = 0; i < times.size(); ++i) residual[i] += level - units[i] * typical;
  return residual;
}

// Mean over each whole period; the steps of an unfinished last period join the one before.
std::vector<double> period_means(Series x, int64_t period) {
  std::vector<double> means;
  const int64_t n = length(x), whole = std::max<int64_t>(1, n / period);
  for (int64_t i = 0; i < whole && n > 0; ++i)
    means.push_back(mean(slice(x, i * period, i + 1 == whole ? n : (i + 1) * period)));
  return means;
}

// Fewer than 20: a quarter, at most 5, and past any value above twice the median of those after it.
int64_t short_start(Series x) {
  const int64_t n = length(x);
  int64_t start = std::min(kFirstSteps, (n + 3) / 4);
  for (int64_t i = start; i + 1 < n; ++i)
    if (x[static_cast<size_t>(i)] > 2 * median(slice(x, i + 1, n))) start = i + 1;
  return std::min(start, std::max<int64_t>(0, n - 1));
}

// The end of the segments that precede the others, lie in the first third and are slower than what follows them.
int64_t warm_up_end(const std::vector<Segment>& segments, Series x) {
  const int64_t latest = length(x) / kWarmUpPart;
  int64_t end = 0;
  for (const Segment& s : segments) {
    if (s.end > latest || s.end == length(x)) break;
    const double rest = median(slice(x, s.end, length(x)));
    if (s.mean > rest * (1 + kSameLevel)) end = s.end;
  }
  return end;
}

// Past any raw step above twice the level among the next ten: the filter clipped it, the estimate would not.
int64_t past_slow_steps(Series raw, int64_t start, double level) {
  int64_t raised = start;
  for (int64_t i = start; i < std::min(length(raw), start + 10); ++i)
    if (raw[static_cast<size_t>(i)] > 2 * level) raised = i + 1;
  return raised;
}

StablePhase short_phase(Series x, int64_t at_least) {
  StablePhase phase{.end = length(x)};
  phase.start = std::min(phase.end, std::max(short_start(x), at_least));
  const int64_t earliest = std::max(at_least, std::min(kFirstSteps, (length(x) + 3) / 4));
  phase.kind = phase.start == phase.end  ? PhaseClass::none
               : phase.start <= earliest ? PhaseClass::flat
                                         : PhaseClass::warm_up;
  return phase;
}

StablePhase segmented_phase(Series x, int64_t at_least) {
  const std::vector<double> filtered = hampel_filtered(x);
  StablePhase phase{.end = length(x), .segmented = true, .noise = noise_of(filtered)};
  phase.segments = segmented(filtered, phase.noise->sigma_lr);
  const int64_t earliest = std::max(kFirstSteps, at_least);
  const int64_t warm = std::max(warm_up_end(phase.segments, filtered), kFirstSteps);
  phase.start = past_slow_steps(x, warm, median(slice(x, warm, length(x))));
  phase.start = std::min(phase.end, std::max(phase.start, at_least));
  phase.kind = phase.start == phase.end  ? PhaseClass::none
               : phase.start <= earliest ? PhaseClass::flat
                                         : PhaseClass::warm_up;
  return phase;
}

void scale_to_steps(StablePhase& phase, int64_t period, int64_t steps) {
  const int64_t elements = phase.end;
  const auto step_of = [&](int64_t element) { return element == elements ? steps : element * period; };
  phase.start = step_of(phase.start);
  phase.end = steps;
  for (Segment& s : phase.segments) s = {step_of(s.begin), step_of(s.end), s.mean};
}

}  // namespace

std::string_view name(PhaseClass kind) {
  switch (kind) {
    case PhaseClass::flat:
      return "flat";
    case PhaseClass::warm_up:
      return "warm-up";
    case PhaseClass::none:
      break;
  }
  return "none";
}

StablePhase find_stable_phase(Series step_times, const StableOptions& options) {
  require(options.period >= 1, "a period has at least one step, got ", options.period);
  require_units(step_times, options.units);
  for (size_t i = 0; i < step_times.size(); ++i)
    require(std::isfinite(step_times[i]) && step_times[i] > 0, "step ", i, " took ", step_times[i], " s");
  if (step_times.empty()) return {};
  const std::vector<double> elements = period_means(per_unit_residual(step_times, options.units), options.period);
  const int64_t at_least = (options.at_least.value_or(0) + options.period - 1) / options.period;
  StablePhase phase = length(elements) < kShort ? short_phase(elements, at_least) : segmented_phase(elements, at_least);
  scale_to_steps(phase, options.period, length(step_times));
  return phase;
}

Shift shift_of(Series step_times, Series units) {
  require_units(step_times, units);
  const std::vector<double> x = per_unit_residual(step_times, units);
  Shift shift;
  const int64_t n = length(x), third = n / 3;
  if (third < 1) return shift;
  const std::vector<double> filtered = hampel_filtered(x);
  const double level = mean(filtered);
  shift.drift = mean(slice(filtered, n - third, n)) / mean(slice(filtered, 0, third)) - 1;
  if (n < kShort) return shift;
  const Noise noise = noise_of(filtered);
  const double chance = noise.sigma_lr * std::sqrt(2.0 / static_cast<double>(third)) / level;
  shift.beyond_chance = std::abs(*shift.drift) > 0.01 && std::abs(*shift.drift) > kDriftBeyondChance * chance;
  double slowest = 0, fastest = 0;
  for (const Segment& s : segmented(filtered, noise.sigma_lr, kLevelPoints)) {
    if (kLevelPart * (s.end - s.begin) < n) continue;
    slowest = std::max(slowest, s.mean);
    fastest = fastest > 0 ? std::min(fastest, s.mean) : s.mean;
  }
  if (fastest > 0) shift.levels = slowest / fastest - 1;
  return shift;
}

std::optional<std::string> shift_reason(const Shift& shift, double most) {
  if (shift.drift && std::abs(*shift.drift) > most)
    return cat("the step time ", *shift.drift > 0 ? "rises" : "falls", " by ", format_percent(std::abs(*shift.drift)),
               " from the first third to the last");
  if (shift.levels && *shift.levels > most)
    return cat("the step time has levels that differ by ", format_percent(*shift.levels));
  return std::nullopt;
}

}  // namespace tbd
