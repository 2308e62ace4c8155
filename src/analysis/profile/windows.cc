#include "analysis/profile/windows.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/text.h"

namespace tbd {

std::vector<TimeSpan> inner_windows(const RankEvents& rank, const std::vector<std::array<int64_t, 2>>& traced) {
  std::map<std::string, TimeSpan, std::less<>> steps;
  for (const uint32_t step : rank.steps)
    steps[std::string(rank.trace->name(step))] = {rank.trace->begins()[step], rank.trace->end(step)};
  std::vector<TimeSpan> windows;
  for (const auto& [first, last] : traced) {
    const auto begin = steps.find(cat("step ", first + 1)), end = steps.find(cat("step ", last - 1));
    if (last - first < 2 || begin == steps.end() || end == steps.end()) continue;
    windows.push_back({begin->second.begin, end->second.end});
  }
  return windows;
}

bool begins_inside(const std::vector<TimeSpan>& windows, int64_t begin) {
  return std::ranges::any_of(windows, [&](TimeSpan w) { return begin >= w.begin && begin < w.end; });
}

int64_t steps_in(const RankEvents& rank, const std::vector<TimeSpan>& windows) {
  int64_t steps = 0;
  for (const uint32_t step : rank.steps)
    for (const TimeSpan& window : windows)
      steps += rank.trace->begins()[step] >= window.begin && rank.trace->end(step) <= window.end;
  return steps;
}

}  // namespace tbd
