// The same work on a set of cores at once.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace tbd {

struct TeamTime {
  int64_t wall_ns = 0;          // from the first begin to the last end
  std::vector<int64_t> cpu_ns;  // of each thread: less than the wall where other work had its core
};

// Starts one thread for each of `cpus`, bound to it, lets all begin together and calls work(index) in each.
// Throws what a thread threw, Error(io) if a core refuses.
TeamTime run_on_cores(const std::vector<int>& cpus, const std::function<void(int64_t index)>& work);

}  // namespace tbd
