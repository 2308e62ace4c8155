// MXNet's profile: Chrome JSON with pairs of begins and ends (src/profiler/profiler.cc).
#pragma once
#include "trace/import/source.h"
#include "trace/trace.h"

namespace tbd {

// Appends the operators. Pairs are made per process, thread and name; times are whole microseconds in the source. A
// device of MXNet's that is a GPU becomes a stream, "cpu/0" threads of the host. An unclosed array, as a crash leaves
// it, and begins without an end are faults.
void import_mxnet(ByteSource& source, Trace& trace);

}  // namespace tbd
