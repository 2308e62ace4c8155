// The networks that suggested commands may name.
#pragma once
#include <span>

#include "analysis/observations/observations.h"

namespace tbd::cli {

// Our models by the FLOPs of a step, cheapest first, each with the first batches of its sweep.
std::span<const KnownNetwork> known_networks();

}  // namespace tbd::cli
