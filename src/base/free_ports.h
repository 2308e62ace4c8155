// Ports for programs that must be told theirs before they listen.
#pragma once
#include <cstdint>
#include <vector>

namespace tbd {

// TCP ports of this machine on which nobody listens. Nothing keeps them: another program may take one before it is
// used. Throws Error(io) where the system gives none.
std::vector<int64_t> free_ports(int64_t count);

}  // namespace tbd
