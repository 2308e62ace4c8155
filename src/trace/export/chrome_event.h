// One event as a Chrome JSON object.
#pragma once
#include <string>

#include "trace/trace.h"

namespace tbd {

// The decimal of microseconds: "12.345".
std::string microseconds(int64_t ns);
std::string json_string(std::string_view text);
// `tid` where it is not the track's own.
std::string chrome_object(const Trace& trace, size_t event, int64_t origin, std::optional<int64_t> tid);

}  // namespace tbd
