// Nsight Systems' export to SQLite: kernels, copies, runtime calls, ranges and the tool's overhead. Tables and columns
// differ by version: what is there is read.
#pragma once
#include <filesystem>

#include "trace/trace.h"

namespace tbd {

// Appends the events. Correlation ids are unique per process in the source and numbered anew here. Where several
// processes used a device, each is a rank, in order of their ids. CUDA graphs that were traced as a whole count as one
// kernel each, and as a fault, since their kernels are hidden. Throws Error(invalid) when nothing can be read.
void import_nsight(const std::filesystem::path& path, Trace& trace);

}  // namespace tbd
