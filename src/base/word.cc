#include "base/word.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "base/workload_words.h"

namespace tbd {

void require_known_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end()) fail(ErrorKind::usage, unknown_name(what, name, known));
}

void require_known(const Device& device) {
  const bool gpu = device.text().starts_with("cuda:") && parse_int(device.text().substr(5)).value_or(-1) >= 0;
  if (device != Device::kCpu && device != Device::kAuto && !gpu)
    fail(ErrorKind::usage, "device '", device, "' is none of 'auto', 'cpu' and 'cuda:N'");
}

}  // namespace tbd
