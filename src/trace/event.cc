#include "trace/event.h"

namespace tbd {
namespace {

constexpr std::array<std::string_view, kEventKinds> kKinds = {
    "op",   "backward op",  "annotation", "phase", "step",  "api",     "kernel",   "memcpy",  "memset", "collective",
    "sync", "device event", "alloc",      "free",  "input", "compile", "overhead", "counter", "off-CPU"};

}  // namespace

std::string_view name(EventKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::optional<EventKind> event_kind_from(std::string_view name) {
  for (size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == name) return static_cast<EventKind>(i);
  return std::nullopt;
}

std::string_view name(EventPhase phase) {
  constexpr std::array<std::string_view, 6> kNames = {"", "forward", "backward", "update", "input", "comm"};
  return kNames[static_cast<size_t>(phase)];
}

std::string_view name(CopyDirection direction) {
  constexpr std::array<std::string_view, 6> kNames = {"", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP"};
  return kNames[static_cast<size_t>(direction)];
}

}  // namespace tbd
