#include "measure/gpu/gpu_use.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.h"
#include "base/units.h"

namespace tbd {
namespace {

using Samples = std::span<const GpuSample>;

constexpr double kLeastCover = 0.5;
constexpr size_t kLeastOfThird = 3;

Samples samples_within(const std::vector<GpuSample>& all, int64_t begin_ns, int64_t end_ns) {
  const auto first = std::ranges::lower_bound(all, begin_ns, {}, &GpuSample::time_ns);
  const auto last = std::ranges::upper_bound(all, end_ns, {}, &GpuSample::time_ns);
  return first < last ? Samples(first, last) : Samples();
}

template <class T>
std::optional<MeanAndPeak> mean_and_peak(Samples samples, std::optional<T> GpuSample::*field) {
  double sum = 0, peak = 0;
  int64_t count = 0;
  for (const GpuSample& sample : samples) {
    if (!(sample.*field)) continue;
    const auto value = static_cast<double>(*(sample.*field));
    peak = count == 0 ? value : std::max(peak, value);
    sum += value;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return MeanAndPeak{sum / static_cast<double>(count), peak};
}

// Joules a second between the first and the last reading of the counter.
std::optional<double> counted_power(Samples samples) {
  const GpuSample* first = nullptr;
  const GpuSample* last = nullptr;
  for (const GpuSample& sample : samples) {
    if (!sample.energy_joules) continue;
    if (last && *sample.energy_joules < *last->energy_joules) return std::nullopt;
    if (!first) first = &sample;
    last = &sample;
  }
  if (first == last) return std::nullopt;
  return (*last->energy_joules - *first->energy_joules) / seconds_of(last->time_ns - first->time_ns);
}

void add_energy(GpuUse& use, Samples samples, double window_s) {
  if (const auto power = counted_power(samples)) {
    use.energy_joules = *power * window_s;
  } else if (const auto power_w = mean_and_peak(samples, &GpuSample::power_w)) {
    use.energy_joules = power_w->mean * window_s;
    use.energy_from_power = true;
  }
}

void flag_throttling(GpuUse& use, Samples samples) {
  uint64_t reasons = 0;
  int64_t known = 0, throttled = 0;
  for (const GpuSample& sample : samples) {
    if (!sample.throttle_reasons) continue;
    ++known;
    if (*sample.throttle_reasons & kThrottled) ++throttled;
    reasons |= *sample.throttle_reasons & kThrottled;
  }
  if (known == 0) return;
  use.throttled_fraction = fraction(throttled, known);
  use.throttle_reasons = throttle_names(reasons);
  if (throttled == 0) return;
  use.flags.push_back("throttled");
  use.reasons.push_back(cat("throttled in ", format_percent(*use.throttled_fraction),
                            " of the samples: ", join(use.throttle_reasons, ", ")));
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// A device without work lowers its clock; that is no drift.
void flag_clock_drift(GpuUse& use, Samples samples) {
  std::vector<double> clocks;
  for (const GpuSample& sample : samples) {
    const bool idle = sample.throttle_reasons.value_or(0) & kGpuIdle;
    if (!idle && sample.sm_clock_mhz) clocks.push_back(static_cast<double>(*sample.sm_clock_mhz));
  }
  const size_t third = clocks.size() / 3;
  if (third < kLeastOfThird) return;
  const std::span<const double> all(clocks);
  const double first = mean_of(all.first(third)), last = mean_of(all.last(third));
  if (!(first > 0)) return;
  use.clock_drift = last / first - 1;
  if (std::abs(*use.clock_drift) <= kMostClockDrift) return;
  use.flags.push_back("clock-drift");
  use.reasons.push_back(cat("SM clock from ", significant(first), " to ", significant(last), " MHz"));
}

int64_t others_among(const std::vector<GpuProcess>& listed, const std::set<int64_t>& own) {
  const auto others = std::ranges::count_if(listed, [&](const GpuProcess& each) { return !own.contains(each.pid); });
  const bool own_is_listed = others < std::ssize(listed);
  return own_is_listed ? others : std::max<int64_t>(0, others - 1);
}

// Absent where the driver does not say, or does not say whose it is.
std::optional<int64_t> own_memory(const std::vector<GpuProcess>& listed, const std::set<int64_t>& own) {
  if (listed.size() == 1 && !own.contains(listed[0].pid)) return listed[0].used_bytes;
  std::optional<int64_t> sum;
  for (const GpuProcess& each : listed)
    if (own.contains(each.pid) && each.used_bytes) sum = sum.value_or(0) + *each.used_bytes;
  return sum;
}

std::optional<MeanAndPeak> memory_of_own(Samples samples, const std::set<int64_t>& own) {
  double sum = 0, peak = 0;
  int64_t count = 0;
  for (const GpuSample& sample : samples) {
    const auto bytes = sample.processes ? own_memory(*sample.processes, own) : std::nullopt;
    if (!bytes) continue;
    sum += static_cast<double>(*bytes);
    peak = std::max(peak, static_cast<double>(*bytes));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return MeanAndPeak{sum / static_cast<double>(count), peak};
}

void flag_sharing(GpuUse& use, Samples samples, const std::set<int64_t>& own) {
  for (const GpuSample& sample : samples)
    if (sample.processes)
      use.other_processes = std::max(use.other_processes.value_or(0), others_among(*sample.processes, own));
  if (use.other_processes.value_or(0) == 0) return;
  use.flags.push_back("shared-device");
  use.reasons.push_back(*use.other_processes == 1 ? std::string("another process uses the device")
                                                  : cat(*use.other_processes, " other processes use the device"));
}

}  // namespace

std::optional<GpuUse> gpu_use(const GpuSeries& series, int64_t begin_ns, int64_t end_ns, const std::set<int64_t>& own,
                              int64_t settled_ns) {
  const Samples samples = samples_within(series.samples, begin_ns, end_ns);
  if (samples.size() < 2) return std::nullopt;
  const double window_s = seconds_of(end_ns - begin_ns);
  Samples settled = samples_within(series.samples, std::max(begin_ns, settled_ns), end_ns);
  if (settled.size() < 2) settled = samples;
  GpuUse use{.sampled_s = seconds_of(samples.back().time_ns - samples.front().time_ns),
             .samples = std::ssize(samples),
             .util_gpu = mean_and_peak(settled, &GpuSample::util_gpu),
             .util_memory = mean_and_peak(settled, &GpuSample::util_memory),
             .memory_bytes = mean_and_peak(samples, &GpuSample::memory_bytes),
             .process_memory_bytes = memory_of_own(samples, own),
             .sm_clock_mhz = mean_and_peak(settled, &GpuSample::sm_clock_mhz),
             .memory_clock_mhz = mean_and_peak(settled, &GpuSample::memory_clock_mhz),
             .power_w = mean_and_peak(settled, &GpuSample::power_w),
             .temperature_celsius = mean_and_peak(settled, &GpuSample::temperature_celsius)};
  if (use.sampled_s < kLeastCover * window_s) return std::nullopt;
  add_energy(use, samples, window_s);
  flag_throttling(use, settled);
  flag_clock_drift(use, settled);
  flag_sharing(use, samples, own);
  return use;
}

}  // namespace tbd
