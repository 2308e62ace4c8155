// Which work of the graph an activity is part of, as far as its event says.
#pragma once
#include <string>

#include "trace/trace.h"

namespace tbd {

// 0 where the event names none; kernels have no shapes.
struct NamedWork {
  StringId node = 0, shapes = 0;
};
NamedWork named_work(const Trace& trace, uint32_t event);

std::string direction_of(EventPhase phase);  // "forward", "backward", "update", or "other"

}  // namespace tbd
