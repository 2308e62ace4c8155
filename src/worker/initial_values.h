// How parameters and buffers start: the same numbers in every framework, whatever the number of threads.
#pragma once
#include "base/tensor.h"
#include "graph/program.h"
#include "worker/session.h"

namespace tbd {

// Element i is drawn from the Philox stream of the parameter's name at step 0, sample i (docs/conventions.md,
// Randomness); the init's zero_row is 0 all the same.
HostTensor initial_value(const Parameter& parameter, uint64_t seed, int64_t threads);
// Writes every parameter and buffer, one at a time, so that memory holds one copy besides the framework's. Returns the
// number of elements of the parameters.
int64_t write_initial_values(Session& session, const Program& program, uint64_t seed, int64_t threads);

}  // namespace tbd
