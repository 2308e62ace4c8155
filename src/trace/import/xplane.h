// TensorFlow's and XLA's profile, *.xplane.pb (tsl/profiler/protobuf/xplane.proto), read as wire bytes.
#pragma once
#include <string_view>

#include "trace/import/source.h"
#include "trace/trace.h"

namespace tbd {

// Appends the threads of host planes and the streams of device planes (of TPUs the line "XLA Ops"); lines that XLA
// derives from them are left out. Picoseconds are rounded to nanoseconds. Malformed bytes end the reading: a fault
// that says where, or Error(invalid) when no event came before.
void import_xplane(std::string_view message, Trace& trace);
void import_xplane(ByteSource& source, Trace& trace);

}  // namespace tbd
