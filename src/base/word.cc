#include "base/word.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "base/workload_words.h"

namespace tbd {
namespace {

constexpr std::string_view kGpuPrefix = "cuda:";

}  // namespace

void require_known_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end()) fail(ErrorKind::usage, unknown_name(what, name, known));
}

Device Device::gpu(int64_t number) { return Device(cat(kGpuPrefix, number)); }

std::optional<int64_t> Device::gpu_number() const {
  if (!text().starts_with(kGpuPrefix)) return std::nullopt;
  const std::optional<int64_t> number = parse_int(text().substr(kGpuPrefix.size()));
  return number && *number >= 0 && gpu(*number) == *this ? number : std::nullopt;
}

void require_known(const Device& device) {
  if (device != Device::kCpu && device != Device::kAuto && !device.gpu_number())
    fail(ErrorKind::usage, "device '", device, "' is none of 'auto', 'cpu' and 'cuda:N'");
}

}  // namespace tbd
