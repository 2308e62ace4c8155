#include "analysis/trace/idle.h"

namespace tbd {
namespace {

// `count` activities by begin, `at` gives each one's place; walks them once, keeping the latest end so far.
template <class At>
std::vector<Gap> gaps_of(const RankEvents& rank, size_t count, At at, TimeSpan window) {
  std::vector<Gap> gaps;
  gaps.reserve(count / 2);
  int64_t now = window.begin;
  std::optional<size_t> latest;
  for (size_t n = 0; n < count; ++n) {
    const size_t i = at(n);
    const Activity& activity = rank.activities[i];
    if (activity.begin >= window.end) break;
    if (activity.begin > now) gaps.push_back({{now, activity.begin}, i, latest});
    if (activity.end > now || !latest) {
      now = std::max(now, activity.end);
      latest = i;
    }
  }
  if (now < window.end) gaps.push_back({{now, window.end}, std::nullopt, latest});
  return gaps;
}

}  // namespace

std::vector<Gap> device_gaps(const RankEvents& rank, TimeSpan window) {
  return gaps_of(
      rank, rank.activities.size(), [](size_t i) { return i; }, window);
}

std::vector<Gap> stream_gaps(const RankEvents& rank, std::span<const uint32_t> activities, TimeSpan window) {
  return gaps_of(
      rank, activities.size(), [&](size_t i) { return size_t{activities[i]}; }, window);
}

}  // namespace tbd
