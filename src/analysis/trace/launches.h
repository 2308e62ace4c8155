// Which host call started which device activity, and what of that the trace lost.
#pragma once
#include <optional>
#include <vector>

#include "analysis/trace/rank_events.h"

namespace tbd {

constexpr uint32_t kNoEvent = UINT32_MAX;

struct Launches {
  std::vector<uint32_t> call_of;  // by activity of RankEvents: the host event, kNoEvent where the trace has none

  int64_t activities_without_call = 0;  // kernels and copies whose launch is missing
  int64_t calls_without_activity = 0;   // launches whose kernel or copy is missing
  int64_t clashing_calls = 0;           // correlation ids that more than one call used
  int64_t before_their_call = 0;        // activities that begin before their launch does: clocks that do not agree
};
// Joined over the whole trace by correlation. Empty counts where the processor is the device.
Launches join_launches(const RankEvents& rank);

}  // namespace tbd
