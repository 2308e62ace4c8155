#include "runner/plan.h"

#include <algorithm>

namespace tbd {

int64_t default_batch(const std::vector<int64_t>& sweep) {
  int64_t best = sweep.empty() ? 2 : sweep.front();
  for (const int64_t batch : sweep)
    if (batch <= 8) best = std::max(best, batch);
  return best;
}

std::vector<size_t> launch_order(size_t cells, int64_t launches) {
  std::vector<size_t> order;
  for (int64_t launch = 0; launch < launches; ++launch)
    for (size_t i = 0; i < cells; ++i) order.push_back(launch % 2 == 0 ? i : cells - 1 - i);
  return order;
}

}  // namespace tbd
