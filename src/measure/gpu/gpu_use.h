// What a device did over a window, derived from its samples, and the flags that follow.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "measure/gpu/gpu_series.h"

namespace tbd {

// How much the mean SM clock of a window's last third may differ from that of its first third: the limit on the drift
// of the peaks, which it would explain.
inline constexpr double kMostClockDrift = 0.03;

struct MeanAndPeak {
  double mean = 0, peak = 0;
};

// Means are over samples, which are equally far apart.
struct GpuUse {
  double sampled_s = 0;  // of the window, between its first and last sample
  int64_t samples = 0;
  std::optional<MeanAndPeak> util_gpu, util_memory;  // fractions
  std::optional<MeanAndPeak> memory_bytes;           // taken by all processes and the driver
  std::optional<MeanAndPeak> process_memory_bytes;   // by the workload's own, of the samples that ask for processes
  std::optional<MeanAndPeak> sm_clock_mhz, memory_clock_mhz;
  std::optional<MeanAndPeak> power_w, temperature_celsius;
  std::optional<double> energy_joules;        // of the whole board over the window
  bool energy_from_power = false;             // mean power x time, because the counter cannot be used
  std::optional<double> clock_drift;          // last third over first third, less 1, of samples that are not idle
  std::optional<double> throttled_fraction;   // of the samples
  std::vector<std::string> throttle_reasons;  // all that slowed the device: "power cap"
  std::optional<int64_t> other_processes;     // most at once beside the workload's own
  std::vector<std::string> flags;             // "throttled", "clock-drift", "shared-device"
  std::vector<std::string> reasons;           // one clause a flag: "throttled in 12 % of the samples: power cap"
};

// Over the samples inside [begin_ns, end_ns]; nullopt unless they cover at least half of it. `own` are the processes of
// the workload, as the driver numbers them.
//   Utilization, clocks, power, temperature, throttling and drift: of those samples after `settled_ns`, where two are
//   left: the first step loads kernels and chooses among them. Memory, energy and processes: of all.
//   Energy: the counter's rise, scaled from what the samples cover to the window. Where the counter is missing or went
//   back, mean power x time.
//   throttled: a sample names a reason of kThrottled.
//   clock-drift: |clock_drift| > kMostClockDrift, from nine samples on.
//   shared-device: a process that is not among `own`. Where none of `own` is listed, one of the listed is taken for it:
//   inside a container processes have other numbers than the driver's. process_memory_bytes is then known only where it
//   is alone.
std::optional<GpuUse> gpu_use(const GpuSeries& series, int64_t begin_ns, int64_t end_ns, const std::set<int64_t>& own,
                              int64_t settled_ns = 0);

}  // namespace tbd
