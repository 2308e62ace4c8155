#include "backends/tensorflow/onednn.h"

#include <dlfcn.h>

namespace tbd::tensorflow {

std::optional<bool> uses_onednn() {
  // tensorflow::IsMKLEnabled(), which the C API has no word for.
  const auto enabled = reinterpret_cast<bool (*)()>(dlsym(RTLD_DEFAULT, "_ZN10tensorflow12IsMKLEnabledEv"));
  return enabled == nullptr ? std::nullopt : std::optional(enabled());
}

}  // namespace tbd::tensorflow
