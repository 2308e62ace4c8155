#include "analysis/profile/timeline.h"

#include <algorithm>
#include <array>

#include "analysis/trace/sweep.h"
#include "base/units.h"

namespace tbd {
namespace {

constexpr size_t kPhases = 6;  // of EventPhase

int64_t common(TimeSpan a, TimeSpan b) {
  return std::max<int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

// Of the part, by the gaps of the whole step.
int64_t off_cpu_time(std::span<const Gap> gaps, const IdleCauses& causes, TimeSpan part) {
  CauseTimes times{};
  for (Gap gap : gaps) {
    gap.interval = {std::max(gap.interval.begin, part.begin), std::min(gap.interval.end, part.end)};
    if (gap.interval.length() > 0) causes.add_device(gap, times);
  }
  return times[static_cast<size_t>(IdleCause::off_cpu)];
}

}  // namespace

Timeline timeline_of(const RankEvents& rank, const IdleCauses& causes, TimeSpan step, std::string name, size_t parts) {
  std::vector<Gap> gaps;
  visit_gaps(rank, step, [&](const Gap& gap) { gaps.push_back(gap); });
  Timeline out{.step = std::move(name), .duration_ns = step.length()};
  for (size_t i = 0; i < parts; ++i) {
    const auto edge = [&](size_t k) {
      return step.begin + static_cast<int64_t>(static_cast<double>(step.length()) * static_cast<double>(k) /
                                               static_cast<double>(parts));
    };
    const TimeSpan part{edge(i), i + 1 == parts ? step.end : edge(i + 1)};
    std::array<int64_t, kPhases> filled{};
    int64_t busy = 0;
    for (const Activity& activity : rank.activities) {
      if (activity.begin >= part.end) break;
      const int64_t time = common({activity.begin, activity.end}, part);
      filled[static_cast<size_t>(rank.trace->phases()[activity.event])] += time;
    }
    busy = sweep(rank.activities, part).busy();
    const int64_t off_cpu = off_cpu_time(gaps, causes, part);
    const auto most = static_cast<size_t>(std::ranges::max_element(filled) - filled.begin());
    out.parts.push_back({.phase = filled[most] > 0 ? static_cast<EventPhase>(most) : EventPhase::unknown,
                         .busy = fraction(busy, part.length()),
                         .off_cpu = fraction(off_cpu, part.length())});
  }
  return out;
}

std::string to_text(const Timeline& timeline) {
  constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::string_view kLetters = ".FBUIC";
  std::string phases, busy;
  for (const TimelinePart& part : timeline.parts) {
    phases += part.off_cpu > 0.5 ? 'x' : kLetters[static_cast<size_t>(part.phase)];
    busy += kBlocks[static_cast<size_t>(std::clamp(part.busy, 0.0, 1.0) * 8 + 0.5)];
  }
  return phases + "\n" + busy + "\n";
}

}  // namespace tbd
