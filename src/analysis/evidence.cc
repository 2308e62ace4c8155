#include "analysis/evidence.h"

#include <algorithm>
#include <tuple>

namespace tbd {
namespace {

// Other grades, of numbers that are disturbed, come after these; rows without a number have none and come last.
int64_t grade_rank(const std::string& grade) {
  constexpr std::string_view kGrades[] = {"published", "development", "provisional"};
  const auto at = std::ranges::find(kGrades, grade) - std::begin(kGrades);
  return grade.empty() ? at + 1 : at;
}

int64_t effort_rank(const std::string& effort) {
  constexpr std::string_view kEfforts[] = {"publish", "quick", "smoke"};
  return std::ranges::find(kEfforts, effort) - std::begin(kEfforts);
}

// Smaller is better.
auto rank(const CellResult& cell) {
  const auto disturbances = std::ranges::count_if(
      cell.judgement.flags, [](const std::string& flag) { return flag.starts_with("disturbed"); });
  return std::tuple(grade_rank(cell.judgement.grade), effort_rank(cell.workload.effort), -cell.launches, disturbances);
}

}  // namespace

bool better(const Evidence& a, const Evidence& b) {
  const auto ar = rank(*a.cell), br = rank(*b.cell);
  if (ar != br) return ar < br;
  const std::string &at = a.record->run.created, &bt = b.record->run.created;
  if (at != bt) return at > bt;
  return std::tie(a.record->hash, a.record->folder) < std::tie(b.record->hash, b.record->folder);
}

std::string_view evidence_rule() {
  return "Where several records are of one workload, figures and comparisons use the one with the best evidence: the "
         "better grade, then the greater effort, then more launches, then fewer kinds of disturbance, then the later "
         "one. Tables list all of them, and nothing is averaged over records.";
}

}  // namespace tbd
