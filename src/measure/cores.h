// The cores a process may use.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace tbd {

// Processors in the affinity mask of `pid` (0: the calling thread), ascending. Throws Error(io) if it is gone.
std::vector<int> allowed_cpus(int pid = 0);

// min(affinity mask, cgroup quota): the denominator of `util.cpu`. A quota may be a fraction of a core.
double usable_cores(int pid = 0);
double usable_cores(size_t allowed, std::optional<double> quota);  // the same, pure

// Binds the calling thread, and the threads it starts later, to `cpus`. Throws Error(io) if the system refuses.
void bind_thread(const std::vector<int>& cpus);

}  // namespace tbd
