// Mode cuda-graph: what a phase does on the device, from forward to update, is recorded once and replayed as one
// launch, so that the host's time for each op is paid once. No header of CUDA is needed.
#pragma once
#include <c10/core/Device.h>

#include <functional>
#include <memory>
#include <string>

#include "worker/session.h"

namespace tbd::pytorch {

class StepGraph {
 public:
  virtual ~StepGraph() = default;
  // Calls `work`, of which the device's part is recorded and not done. The tensors that it makes have their values
  // after each replay. Throws what torch says against it.
  virtual void capture(const std::function<void()>& work) = 0;
  virtual void replay() = 0;
};
using MakeStepGraph = std::function<std::unique_ptr<StepGraph>()>;

// Runs of a phase before it is captured: they choose kernels and make what libraries make once.
inline constexpr int64_t kRunsBeforeCapture = 3;

// torch's own, for the current stream of `device`, which must not be its first. libtorch_cuda.so is loaded. Throws
// Error(unsupported) where it has none that we know.
MakeStepGraph device_graphs(const c10::Device& device);
// Makes a stream of its own the current one of this thread: the first cannot be captured.
void leave_first_stream(const c10::Device& device);

// Throws Error(unsupported) with what of the program or the options cannot be replayed.
void require_replayable(const Program& program, const LoadOptions& options);

}  // namespace tbd::pytorch
