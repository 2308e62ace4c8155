// What a session does on a GPU beside its ops: copies of batches on a stream of their own, and the time of a step by
// the device's clock. By torch's interface for all devices, so that no header of CUDA is needed.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

namespace tbd::pytorch {

// Copies batches without waiting for the device, and beside what it still computes; work enqueued after copy() waits
// for that copy on the device, not here.
class CopyStream {
 public:
  explicit CopyStream(const at::Device& device);
  at::Tensor copy(const at::Tensor& pinned) const;

 private:
  at::Device device_;
  c10::Stream copies_;
};

// Events around the work of a step on the device's current stream.
class StepClock {
 public:
  explicit StepClock(const at::Device& device);
  void begin();
  void end();
  // From the first to the last work between the two. The device must have finished it.
  int64_t elapsed_ns() const;

 private:
  at::Device device_;
  c10::Event begin_, end_;
};

}  // namespace tbd::pytorch
