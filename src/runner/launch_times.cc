#include "runner/launch_times.h"

#include <algorithm>

namespace tbd {

void LaunchTimes::add(const Workload& cell, const Pass& pass, double seconds) {
  seen_.push_back({cell, pass, seconds});
}

std::optional<double> LaunchTimes::foreseen(const Workload& cell, const Pass& pass) const {
  std::optional<double> own, like;
  for (const Seen& seen : seen_) {
    if (seen.pass != pass) continue;
    if (seen.cell == cell) own = std::max(own.value_or(0), seen.seconds);
    Workload same_batch = seen.cell;
    same_batch.batch = cell.batch;
    if (same_batch != cell) continue;
    const double factor =
        std::max(1.0, static_cast<double>(cell.batch) / static_cast<double>(std::max<int64_t>(1, seen.cell.batch)));
    like = std::max(like.value_or(0), std::min(factor * seen.seconds, seen.seconds + limit_));
  }
  return own ? own : like;
}

std::optional<double> LaunchTimes::mean() const {
  if (seen_.empty()) return std::nullopt;
  double total = 0;
  for (const Seen& seen : seen_) total += seen.seconds;
  return total / static_cast<double>(seen_.size());
}

}  // namespace tbd
