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
  const std::optional<int64_t> number = device.gpu_number();
  if (number && *number < usable_gpus()) return *number;
  const std::string why =
      gpus().count == 0 ? gpus().reason : cat("the driver shows ", gpus().count, " to this process");
  fail(ErrorKind::unsupported, "this tensorflow has no device '", device, "': ", why);
}

void allow_tf32(bool allowed) { ::tsl::enable_tensor_float_32_execution(allowed); }

}  // namespace tbd::tensorflow
