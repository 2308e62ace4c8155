#include "measure/gpu/own_memory.h"

#include "measure/gpu/visible_device.h"

namespace tbd {

OwnDeviceMemory::OwnDeviceMemory(const std::string& uuid, const std::string& library)
    : nvml_(library),
      device_(nvml_device(nvml_, Device::gpu(0), {{"CUDA_VISIBLE_DEVICES", uuid}}).value()),
      before_(used()) {}

std::optional<int64_t> OwnDeviceMemory::bytes() const {
  const std::optional<int64_t> now = used();
  return now && before_ ? std::optional(*now - *before_) : std::nullopt;
}

std::optional<int64_t> OwnDeviceMemory::used() const {
  if (!device_) return std::nullopt;
  const auto memory = device_->memory();
  return memory ? std::optional(memory->used_bytes) : std::nullopt;
}

}  // namespace tbd
