// What a device said of itself, sampled while a workload ran.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu/nvml.h"

namespace tbd {

// Absent: the device did not answer; GpuSeries::missing says why.
struct GpuSample {
  int64_t time_ns = 0;                  // now_ns() when the reading began
  std::optional<double> util_gpu;       // fraction of the driver's last period in which a kernel ran
  std::optional<double> util_memory;    // the same of device memory being read or written
  std::optional<int64_t> memory_bytes;  // used, by all processes and the driver
  std::optional<int64_t> sm_clock_mhz, memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> energy_joules;  // counter, since the driver was loaded
  std::optional<int64_t> temperature_celsius;
  std::optional<uint64_t> throttle_reasons;          // bits of nvml.h
  std::optional<std::vector<GpuProcess>> processes;  // read once a second: it is the dearest of the questions
};

struct GpuSeries {
  std::vector<GpuSample> samples;  // in order of time
  // Name of a field -> why it is absent: the first reason that was given.
  std::map<std::string, std::string> missing;
  std::string ended;  // why sampling ended before it was told to: the device was lost. Else empty
};

}  // namespace tbd
