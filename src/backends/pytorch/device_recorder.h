// Kernels, copies and calls of the runtime in traced windows, by the Kineto that is inside libtorch. Tests without a
// GPU run its part of the CPU.
#pragma once
#include <c10/core/DeviceType.h>

#include <vector>

#include "backends/pytorch/device_events.h"
#include "measure/clock_map.h"

namespace tbd::pytorch {

class DeviceRecorder {
 public:
  // Of kCUDA; or of kCPU, where the records are torch's ops. Readies the device's profiler, which takes seconds the
  // first time. Throws Error(unsupported) for other types.
  explicit DeviceRecorder(c10::DeviceType type);
  ~DeviceRecorder();
  DeviceRecorder(const DeviceRecorder&) = delete;
  DeviceRecorder& operator=(const DeviceRecorder&) = delete;

  void start();  // nothing where it runs already
  // By the thread that started, with the device's work done: all since then, by begin. Empty where it does not run.
  std::vector<DeviceRecord> stop();

 private:
  c10::DeviceType type_;
  bool ready_ = true, running_ = false;
  ClockMap clocks_;
};

}  // namespace tbd::pytorch
