#include "measure/clock_map.h"

#include <algorithm>
#include <cmath>

#include "measure/clock.h"

namespace tbd {

// The pair read fastest of a few.
ClockPair read_clocks() {
  ClockPair best{};
  int64_t best_gap = INT64_MAX;
  for (int i = 0; i < 8; ++i) {
    timespec t{};
    const int64_t before = now_ns();
    clock_gettime(CLOCK_REALTIME, &t);
    const int64_t after = now_ns();
    if (after - before < best_gap) {
      best = {ns_of(t), before + (after - before) / 2};
      best_gap = after - before;
    }
  }
  return best;
}

int64_t ClockMap::raw_ns(int64_t epoch_ns) const {
  auto after = std::ranges::lower_bound(pairs_, epoch_ns, {}, &ClockPair::epoch_ns);
  after = std::clamp(after, pairs_.begin() + 1, pairs_.end() - 1);
  const ClockPair &a = *(after - 1), &b = *after;
  const double rate = static_cast<double>(b.raw_ns - a.raw_ns) / static_cast<double>(b.epoch_ns - a.epoch_ns);
  return a.raw_ns + std::llround(rate * static_cast<double>(epoch_ns - a.epoch_ns));
}

}  // namespace tbd
