// Traces of torch.profiler (Kineto's Chrome JSON), plain or gzip, one file a rank (measurement: docs/trace.md).
#pragma once
#include "trace/import/source.h"
#include "trace/trace.h"

namespace tbd {

// Appends the events to `trace`, times as read. What is not used is counted as faults: negative durations, records
// whose stamps are zero, events without a time. Properties of the file become facts; its rank that of the tracks.
// Throws Error(invalid) when the stream is no JSON from its begin.
void import_kineto(ByteSource& source, Trace& trace);

}  // namespace tbd
