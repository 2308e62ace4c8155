#include "analysis/gap/shares.h"

#include <algorithm>
#include <vector>

namespace tbd {
namespace {

void charge_stretch(std::span<const Activity* const> running, int64_t ns,
                    const std::function<void(const Activity&, int64_t)>& charge) {
  if (running.empty() || ns == 0) return;
  const auto count = static_cast<int64_t>(running.size());
  for (int64_t i = 0; i < count; ++i) charge(*running[static_cast<size_t>(i)], ns / count + (i < ns % count));
}

}  // namespace

void share_window(std::span<const Activity> activities, TimeSpan window,
                  const std::function<void(const Activity&, int64_t)>& charge) {
  std::vector<const Activity*> running;
  int64_t now = window.begin;
  const auto run_until = [&](int64_t time) {
    while (now < time) {
      std::erase_if(running, [&](const Activity* a) { return a->end <= now; });
      int64_t next = time;
      for (const Activity* a : running) next = std::min(next, a->end);
      charge_stretch(running, next - now, charge);
      now = next;
    }
  };
  for (const Activity& activity : activities) {
    if (activity.end <= window.begin) continue;
    if (activity.begin >= window.end) break;
    run_until(std::max(now, activity.begin));
    running.push_back(&activity);
  }
  run_until(window.end);
}

}  // namespace tbd
