#include <algorithm>

#include "analysis/trace/idle.h"

namespace tbd {
namespace {

// `of` are activities by begin; walks them once, keeping the latest end so far.
std::vector<Gap> gaps_of(const RankEvents& rank, std::span<const size_t> of, TimeSpan window) {
  std::vector<Gap> gaps;
  int64_t now = window.begin;
  std::optional<size_t> latest;
  for (const size_t i : of) {
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
  std::vector<size_t> all(rank.activities.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  return gaps_of(rank, all, window);
}

std::vector<Gap> stream_gaps(const RankEvents& rank, TrackId stream, TimeSpan window) {
  std::vector<size_t> own;
  for (size_t i = 0; i < rank.activities.size(); ++i)
    if (rank.activities[i].track == stream) own.push_back(i);
  return gaps_of(rank, own, window);
}

}  // namespace tbd
