// Writing a trace as Chrome JSON with Kineto's literal strings, which Perfetto, chrome://tracing and other readers of
// torch.profiler's traces take.
#pragma once
#include <iosfwd>

#include "trace/trace.h"

namespace tbd {

struct ExportWindow {
  int64_t begin = INT64_MIN, end = INT64_MAX;  // events that overlap it are written, whole
};
constexpr int64_t kManyEvents = 200'000;  // beyond that viewers become slow

// One rank's events; times in microseconds with three decimals. Where they are counted from an epoch, the first one
// moves to baseTimeNanoseconds, since viewers hold times as doubles. Slices that do not nest on their track go to a
// track of their own. Returns how many events were written.
int64_t write_chrome(const Trace& trace, int32_t rank, ExportWindow window, std::ostream& out);

}  // namespace tbd
