// Steps in a trace of a foreign program, as our own traces have them.
#pragma once
#include <array>

#include "trace/trace.h"

namespace tbd::cli {

// Copies a trace in which ranges "ProfilerStep#N" of a host's thread are the steps first to last of a program; `to` is
// new. A range becomes the step "step N - before"; one that lasts until a later number than N + 1 is cut into as many
// equal steps. Every track gets rank 0, since a record's profile is of one process. Throws Error(invalid) where the
// trace has none of these ranges.
void copy_with_steps(const Trace& from, const std::array<int64_t, 2>& steps, int64_t before, Trace& to);

}  // namespace tbd::cli
