#include "worker/store.h"

#include "record/memory_log.h"

namespace tbd {

std::string_view weight_of_state(std::string_view name) {
  const bool slot = name.starts_with(kStatePrefix);
  name.remove_prefix(name.find('/') + 1);
  return slot ? name.substr(0, name.rfind('/')) : name;
}

MemoryClass class_of_state(std::string_view name) {
  if (name.starts_with(kParameterPrefix)) return MemoryClass::weight;
  const bool average = name.substr(name.rfind('/') + 1) == kAverageSlot;
  return name.starts_with(kBufferPrefix) || average ? MemoryClass::auxiliary : MemoryClass::optimizer_state;
}

}  // namespace tbd
