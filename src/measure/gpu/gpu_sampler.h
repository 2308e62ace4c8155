// Samples a device beside a running workload.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "measure/gpu/gpu_series.h"
#include "measure/gpu/nvml.h"

namespace tbd {

inline constexpr std::chrono::milliseconds kGpuSamplePeriod{100};

// Reads a device when asked. Not for use by two threads.
class GpuSampler {
 public:
  // `device` belongs to an Nvml that outlives this.
  explicit GpuSampler(const NvmlDevice& device) : device_(device) {}

  // Appends a sample; false once the device is lost, which takes no further one.
  bool sample();
  GpuSeries take() { return std::move(series_); }

 private:
  NvmlDevice device_;
  GpuSeries series_;
  int64_t processes_read_ns_ = 0;
};

// Samples from a thread of its own, every `period`, from its construction to stop(); the first and the last sample are
// taken at these instants.
class GpuWatch {
 public:
  explicit GpuWatch(const NvmlDevice& device, std::chrono::milliseconds period = kGpuSamplePeriod);
  GpuSeries stop();  // once

 private:
  void watch(const std::stop_token& stop, std::chrono::milliseconds period);

  GpuSampler sampler_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // owns sampler_ until it is joined
};

}  // namespace tbd
