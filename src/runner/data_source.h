// What a worker is told of where batches come from (docs/data.md).
#pragma once
#include "base/json_fwd.h"
#include "graph/program.h"

namespace tbd {

// {"seed": ..., "text": {"conventions": ...}, "detection": {"conventions": ...}}: with the conventions, where it has
// any, of the network that the program names.
Json data_source(const Program& program, uint64_t seed);

}  // namespace tbd
