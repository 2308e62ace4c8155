#include <algorithm>

#include "analysis/sweep/sweep.h"

namespace tbd {
namespace {

// The smallest batch from which on all points up to the best reach the share of its X.
int64_t reached(std::span<const SweepPoint* const> up_to_best, double share, double (*x)(const Measured&)) {
  const double wanted = share * *up_to_best.back()->throughput().value;
  int64_t batch = up_to_best.back()->batch;
  for (auto point = up_to_best.rbegin(); point != up_to_best.rend() && x((*point)->throughput()) >= wanted; ++point)
    batch = (*point)->batch;
  return batch;
}

double value(const Measured& m) { return *m.value; }
double lower(const Measured& m) { return m.low.value_or(*m.value); }
double high_end(const Measured& m) { return m.high.value_or(*m.value); }

}  // namespace

std::optional<Knee> knee(const Sweep& sweep, double share) {
  std::vector<const SweepPoint*> points;
  for (const SweepPoint& point : sweep.points)
    if (point.ran()) points.push_back(&point);
  if (points.size() < 3) return std::nullopt;
  const auto best = std::ranges::max_element(points, {}, [](const SweepPoint* p) { return *p->throughput().value; });
  const std::span up_to_best(points.begin(), best + 1);
  const int64_t batch = reached(up_to_best, share, value);
  return Knee{.batch = batch,
              .low = std::min(batch, reached(up_to_best, share, high_end)),
              .high = std::max(batch, reached(up_to_best, share, lower))};
}

}  // namespace tbd
