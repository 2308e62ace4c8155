// A trace's events as CSV (RFC 4180 with \n).
#pragma once
#include <iosfwd>

#include "trace/export/chrome.h"
#include "trace/trace.h"

namespace tbd {

// kind, name, rank, place, device, process, thread, begin_ns, duration_ns, correlation, sequence, phase, node, shapes,
// bytes; what an event lacks is an empty cell. Returns how many events were written.
int64_t write_csv(const Trace& trace, ExportWindow window, std::ostream& out);

}  // namespace tbd
