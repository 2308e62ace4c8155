// The smallest batch that a network takes.
#pragma once
#include "graph/program.h"

namespace tbd {

// 1, or 2 where the program does not hold with one sample: statistics of a batch need two values a channel, which a map
// of one cell does not have. `bindings` gives the other symbols.
int64_t least_batch(const Program& program, Bindings bindings);

}  // namespace tbd
