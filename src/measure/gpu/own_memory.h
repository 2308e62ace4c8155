// How much of a device's memory this process holds, by the driver.
#pragma once
#include <optional>
#include <string>

#include "measure/gpu/nvml.h"

namespace tbd {

// All that is used on the device, less what was used when this was made: before the process had a context there. Other
// processes that take or give back memory in between are counted, too. The driver's figure of a process would not be,
// but in a container it cannot be told whose is whose.
class OwnDeviceMemory {
 public:
  explicit OwnDeviceMemory(const std::string& uuid, const std::string& library = kNvmlLibrary);

  std::optional<int64_t> bytes() const;  // now; nullopt where the driver does not say

 private:
  std::optional<int64_t> used() const;

  Nvml nvml_;
  std::optional<NvmlDevice> device_;
  std::optional<int64_t> before_;
};

}  // namespace tbd
