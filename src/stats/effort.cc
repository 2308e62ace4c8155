#include "stats/effort.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr EffortLevel kSmoke{.stable_steps = 5, .limit_seconds = 60, .tests_steadiness = false};
constexpr EffortLevel kQuick{.stable_steps = 50, .stable_seconds = 10, .limit_seconds = 180};
constexpr EffortLevel kPublish{.stable_steps = 200, .stable_seconds = 30, .launches = 5, .limit_seconds = 900};

double total(Series x) { return std::accumulate(x.begin(), x.end(), 0.0); }

// What the launches lack of the wants, worst first; empty where nothing.
std::string lacking(const EffortLevel& wants, const std::vector<LaunchExtent>& launches) {
  const auto few = std::min_element(launches.begin(), launches.end(),
                                    [](auto& a, auto& b) { return a.stable_steps < b.stable_steps; });
  const auto brief = std::min_element(launches.begin(), launches.end(),
                                      [](auto& a, auto& b) { return a.stable_seconds < b.stable_seconds; });
  if (few == launches.end()) return "no launch was measured";
  const auto in = [](const LaunchExtent& launch) { return cat(" in ", significant(launch.elapsed_seconds), " s"); };
  if (few->stable_steps < wants.stable_steps)
    return cat(few->stable_steps, " of ", wants.stable_steps, " stable steps", in(*few));
  if (brief->stable_seconds < wants.stable_seconds)
    return cat(significant(brief->stable_seconds), " of ", wants.stable_seconds, " s stable", in(*brief));
  if (static_cast<int64_t>(launches.size()) < wants.launches)
    return cat(launches.size(), " of ", wants.launches, " launches");
  return "";
}

}  // namespace

std::string_view name(Effort effort) {
  switch (effort) {
    case Effort::smoke:
      return "smoke";
    case Effort::publish:
      return "publish";
    case Effort::quick:
      break;
  }
  return "quick";
}

Effort effort_of(std::string_view text) {
  std::vector<std::string> known;
  for (const Effort effort : {Effort::smoke, Effort::quick, Effort::publish}) {
    if (text == name(effort)) return effort;
    known.emplace_back(name(effort));
  }
  fail(ErrorKind::usage, unknown_name("effort", text, known));
}

std::string_view name(Grade grade) {
  switch (grade) {
    case Grade::published:
      return "published";
    case Grade::development:
      return "development";
    case Grade::provisional:
      break;
  }
  return "provisional";
}

const EffortLevel& level(Effort effort) {
  switch (effort) {
    case Effort::smoke:
      return kSmoke;
    case Effort::publish:
      return kPublish;
    case Effort::quick:
      break;
  }
  return kQuick;
}

bool measured_enough(Series step_times, Effort effort, const StableOptions& options) {
  const EffortLevel& wants = level(effort);
  const auto enough = [&](Series stable) {
    return static_cast<int64_t>(stable.size()) >= wants.stable_steps && total(stable) >= wants.stable_seconds;
  };
  if (!enough(step_times)) return false;
  const StablePhase phase = find_stable_phase(step_times, options);
  if (wants.tests_steadiness && unsteadiness(phase)) return false;
  return enough(step_times.subspan(static_cast<size_t>(phase.start)));
}

Graded graded(Effort effort, const std::vector<LaunchExtent>& launches) {
  if (effort == Effort::smoke) return {Grade::provisional, "smoke effort"};
  const std::string no_development = lacking(kQuick, launches);
  if (!no_development.empty()) return {Grade::provisional, no_development};
  const std::string no_publication = lacking(kPublish, launches);
  if (no_publication.empty()) return {Grade::published, ""};
  return {Grade::development, effort == Effort::publish ? no_publication : ""};
}

}  // namespace tbd
