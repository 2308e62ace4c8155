#include "backends/tensorflow/gpu.h"

#include <tensorflow/core/util/port.h>
#include <tsl/platform/tensor_float_32_utils.h>

#include "base/error.h"
#include "base/text.h"
#include "measure/gpu/cuda_driver.h"

namespace tbd::tensorflow {
namespace {

CudaDevices answering_gpus() {
  if (!::tensorflow::IsGoogleCudaEnabled()) return {.reason = "it is built for the CPU alone"};
  return cuda_devices();
}

const CudaDevices& gpus() {
  static const CudaDevices found = answering_gpus();
  return found;
}

}  // namespace

int64_t usable_gpus() { return gpus().count; }

int64_t gpu_index(const Device& device) {
  for (int64_t i = 0; i < usable_gpus(); ++i)
    if (device == Device(cat("cuda:", i))) return i;
  const std::string why =
      gpus().count == 0 ? gpus().reason : cat("the driver shows ", gpus().count, " to this process");
  fail(ErrorKind::unsupported, "this tensorflow has no device '", device, "': ", why);
}

void allow_tf32(bool allowed) { ::tsl::enable_tensor_float_32_execution(allowed); }

}  // namespace tbd::tensorflow
