// One step as a strip: its phases and how busy it was, in equal parts of its time.
#pragma once
#include <string>
#include <vector>

#include "analysis/trace/idle.h"

namespace tbd {

struct TimelinePart {
  EventPhase phase = EventPhase::unknown;  // that filled most of it
  double busy = 0;                         // share, all classes
  double off_cpu = 0;                      // share: idle, since a thread could have run and had no processor
};
struct Timeline {
  std::string step;
  int64_t duration_ns = 0;
  std::vector<TimelinePart> parts;
};
// `causes` of a window that holds the step.
Timeline timeline_of(const RankEvents& rank, const IdleCauses& causes, TimeSpan step, std::string name, size_t parts);
// Two lines of text: letters of the phases (F, B, U, I; '.' unknown; x: most of it off-CPU) and blocks as high as busy.
std::string to_text(const Timeline& timeline);

}  // namespace tbd
