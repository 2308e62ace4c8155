// Traces of any format that is read, told apart by their content.
#pragma once
#include <filesystem>
#include <string_view>

#include "trace/trace.h"

namespace tbd {

enum class TraceFormat { native, kineto, nsight, xplane, step_stats, mxnet };
std::string_view name(TraceFormat format);  // for people

// Looks at the content, and at the name where the content does not say. Throws Error(not_found, io), Error(invalid)
// when it is none of them.
TraceFormat trace_format(const std::filesystem::path& path);
// Appends the trace at `path` to `trace`; facts["source"] becomes the format. Errors name the path; faults are
// recorded in the trace.
void import_trace(const std::filesystem::path& path, Trace& trace);

}  // namespace tbd
