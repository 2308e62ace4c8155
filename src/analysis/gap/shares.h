// Time shared equally among what runs at once.
#pragma once
#include <functional>
#include <span>

#include "analysis/trace/rank_events.h"

namespace tbd {

// Calls `charge(activity, ns)` for parts of the window; the parts add up to the time in which anything ran, exactly: a
// stretch of n ns with k activities gives each n / k, and the first n % k of them one more. `activities` by begin; what
// lies outside the window is cut off.
void share_window(std::span<const Activity> activities, TimeSpan window,
                  const std::function<void(const Activity&, int64_t)>& charge);

}  // namespace tbd
