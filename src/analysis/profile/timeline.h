// One step as a strip: its phases and how busy it was, in equal parts of its time.
#pragma once
#include <string>
#include <vector>

#include "analysis/trace/rank_events.h"

namespace tbd {

struct TimelinePart {
  EventPhase phase = EventPhase::unknown;  // that filled most of it
  double busy = 0;                         // share, all classes
};
struct Timeline {
  std::string step;
  int64_t duration_ns = 0;
  std::vector<TimelinePart> parts;
};
Timeline timeline_of(const RankEvents& rank, TimeSpan step, std::string name, size_t parts);
// Two lines of text: letters of the phases (F, B, U, I; '.' unknown) and blocks as high as busy.
std::string to_text(const Timeline& timeline);

}  // namespace tbd
