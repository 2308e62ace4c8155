#include "stats/effort.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr EffortLevel kSmoke{.steps = 5, .limit_seconds = 60, .workload_seconds = 60};
constexpr EffortLevel kQuick{.steps = 10, .seconds = 15, .launches = 3, .limit_seconds = 60, .workload_seconds = 75};
constexpr EffortLevel kPublish{
    .steps = 200, .seconds = 30, .launches = 5, .limit_seconds = 900, .workload_seconds = 1200};

// A grade's wants: launches, and the widest half of the interval.
struct Wants {
  Grade grade;
  int64_t launches;
  double half_width;
};
constexpr Wants kDevelopment{Grade::development, 3, 0.05}, kPublished{Grade::published, 5, 0.02};

double total(Series x) { return std::accumulate(x.begin(), x.end(), 0.0); }

// What the evidence lacks of the grade's wants; empty where nothing.
std::string lacking(const Wants& wants, const GradeEvidence& evidence) {
  if (evidence.launches == 1 && wants.launches > 1)
    return cat("one of ", wants.launches, " launches: the interval is within one process");
  if (evidence.launches < wants.launches) return cat(evidence.launches, " of ", wants.launches, " launches");
  if (!evidence.half_width) return "too few steps for an interval";
  if (*evidence.half_width > wants.half_width)
    return cat("the interval is ±", format_percent(*evidence.half_width), ", ", name(wants.grade), " wants ±",
               format_percent(wants.half_width));
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
    case Grade::disturbed:
      return "disturbed";
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
  const auto enough = [&](Series steps) {
    return static_cast<int64_t>(steps.size()) >= wants.steps && total(steps) >= wants.seconds;
  };
  return enough(step_times) &&
         enough(step_times.subspan(static_cast<size_t>(find_stable_phase(step_times, options).start)));
}

Graded graded(Effort effort, const GradeEvidence& evidence) {
  if (effort == Effort::smoke) return {Grade::provisional, "smoke effort"};
  if (!evidence.disturbance.empty()) return {Grade::disturbed, evidence.disturbance};
  const std::string no_development = lacking(kDevelopment, evidence);
  if (!no_development.empty()) return {Grade::provisional, no_development};
  if (effort != Effort::publish) return {Grade::development, ""};
  const std::string no_publication = lacking(kPublished, evidence);
  if (no_publication.empty()) return {Grade::published, ""};
  return {Grade::development, no_publication};
}

}  // namespace tbd
