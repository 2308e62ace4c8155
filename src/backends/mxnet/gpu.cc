#include "backends/mxnet/gpu.h"

#include <algorithm>
#include <map>

#include "backends/mxnet/api.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/gpu/cuda_driver.h"

namespace tbd::mxnet {
namespace {

constexpr int kFirstCapability = 50, kLastCapability = 86;

struct Gpus {
  std::map<int64_t, std::string> reasons;  // by index; empty: it can be used
  std::string reason;                      // of none at all
};

Gpus look_for_gpus() {
  if (std::ranges::count(library_features(), "CUDA") == 0) return {.reason = "this mxnet runs on cpu"};
  const CudaDevices devices = cuda_devices();
  Gpus out{.reason = devices.reason};
  for (int64_t i = 0; i < devices.count; ++i) out.reasons[i] = why_code_does_not_fit(cuda_build(i).capability);
  return out;
}

const Gpus& gpus() {
  static const Gpus found = look_for_gpus();
  return found;
}

std::string in_words(int capability) { return cat(capability / 10, ".", capability % 10); }

}  // namespace

std::string why_code_does_not_fit(int capability) {
  if (capability >= kFirstCapability && capability <= kLastCapability) return "";
  return cat("its code is for compute capability ", in_words(kFirstCapability), " to ", in_words(kLastCapability),
             ", the device has ", in_words(capability));
}

std::vector<Device> usable_gpus() {
  std::vector<Device> out;
  for (const auto& [index, reason] : gpus().reasons)
    if (reason.empty()) out.push_back(Device::gpu(index));
  return out;
}

int64_t gpu_index(const Device& device) {
  for (const auto& [index, reason] : gpus().reasons) {
    if (device != Device::gpu(index)) continue;
    if (reason.empty()) return index;
    fail(ErrorKind::unsupported, "mxnet cannot train on device '", device, "': ", reason);
  }
  const size_t count = gpus().reasons.size();
  const std::string why = count == 0 ? gpus().reason : cat("the driver shows ", count, " to this process");
  fail(ErrorKind::unsupported, "no device '", device, "': ", why);
}

}  // namespace tbd::mxnet
