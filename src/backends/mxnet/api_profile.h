// MXNet's profiler and its queue through the C API. Both are process-wide.
#pragma once
#include <string>

#include "backends/mxnet/api.h"

namespace tbd::mxnet {

// What the profiler records from now on, dump_profile leaves in that file (docs/trace.md, MXNet profile).
void set_profile(const std::string& file);
void profile(bool on);
// Writes what was recorded since the last dump; the file is replaced.
void dump_profile();

// Queues work(with) behind all that was queued to write the array. MXNet's worker thread runs it, in the order in which
// what it waits for was done; it must not throw. `with` must live until then.
void queue_after(const Array& array, void (*work)(void* with), void* with);

}  // namespace tbd::mxnet
