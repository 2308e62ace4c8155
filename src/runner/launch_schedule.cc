#include "runner/launch_schedule.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runner/plan.h"
#include "stats/compare.h"

namespace tbd {
namespace {

constexpr int kRounds = 3;   // of launches of what is undecided
constexpr int kFurther = 3;  // the rank of clean launches beyond those to compare

// Within a budget the lowest go first.
int rank(const Turn& turn) {
  if (turn.pass == Pass::kClean) return turn.number <= kFewestLaunches ? 0 : kFurther;
  return turn.pass == Pass::kMemory ? 1 : 2;
}

}  // namespace

int64_t total(const LaunchCounts& counts) {
  int64_t sum = 0;
  for (const auto& [pass, count] : counts) sum += count;
  return sum;
}

double launch_limit(const Pass& pass, Effort effort, int64_t launches, double limit) {
  if (pass == Pass::kClean) return limit;
  return std::max(limit, std::min(static_cast<double>(launches) * limit, level(effort).limit_seconds));
}

TimeLimits time_limits(Effort effort, int64_t launches, std::optional<double> launch_limit,
                       std::optional<double> budget) {
  const EffortLevel& usual = level(effort);
  if (!launch_limit) return {.launch = usual.limit_seconds, .workload = usual.workload_seconds, .budget = budget};
  return {.launch = *launch_limit, .workload = static_cast<double>(launches) * *launch_limit, .budget = budget};
}

LaunchSchedule::LaunchSchedule(std::vector<Pass> passes, Effort effort, int64_t launches, TimeLimits limits,
                               double began, std::optional<uint64_t> pair_seed)
    : passes_(std::move(passes)),
      effort_(effort),
      launches_(launches),
      limits_(limits),
      began_(began),
      pair_seed_(pair_seed) {}

LaunchCounts LaunchSchedule::planned() const {
  LaunchCounts counts;
  for (const Pass& pass : passes_) counts[pass] = pass == Pass::kClean ? launches_ : 1;
  return counts;
}

std::vector<Turn> LaunchSchedule::turns(size_t workloads) const {
  std::vector<Turn> turns;
  const LaunchCounts counts = planned();
  for (const Pass& pass : passes_) {
    std::map<size_t, int64_t> number;
    for (const size_t workload : launch_order(workloads, counts.at(pass), pair_seed_))
      turns.push_back({workload, pass, ++number[workload]});
  }
  if (limits_.budget && !pair_seed_) std::ranges::stable_sort(turns, {}, rank);
  return turns;
}

size_t LaunchSchedule::first_turns(std::span<const Turn> turns) const {
  if (!limits_.budget || pair_seed_) return turns.size();
  return static_cast<size_t>(std::ranges::count_if(turns, [](const Turn& turn) { return rank(turn) < kFurther; }));
}

int64_t LaunchSchedule::launches_in_round(int round, const Pass& pass) const {
  if (!limits_.budget || pair_seed_ || effort_ == Effort::smoke || round > kRounds) return 0;
  const int64_t first = pass == Pass::kClean   ? launches_
                        : pass == Pass::kTrace ? std::min(launches_, kFewestLaunches)
                                               : 0;
  return first << (round - 1);
}

std::vector<Turn> LaunchSchedule::further(std::span<const Further> of, int round) const {
  std::vector<Turn> turns;
  std::vector<Pass> passes = {Pass::kClean, Pass::kTrace};
  if (round == 1) std::ranges::reverse(passes);
  for (const Pass& pass : passes) {
    std::vector<size_t> workloads;
    for (const Further& each : of)
      if (std::ranges::count(each.passes, pass) > 0) workloads.push_back(each.workload);
    std::map<size_t, int64_t> number;
    for (const size_t each : launch_order(workloads.size(), launches_in_round(round, pass), {}))
      turns.push_back({workloads[each], pass, ++number[each]});
  }
  return turns;
}

bool LaunchSchedule::in_time(double now, double seconds) const {
  return !limits_.budget || now + seconds <= began_ + *limits_.budget;
}

bool LaunchSchedule::may_repeat(const Turn& turn, double measured, double last) const {
  if (turn.pass == Pass::kMemory || effort_ == Effort::smoke || pair_seed_) return false;
  const int64_t planned = turn.pass == Pass::kClean ? launches_ : 1;
  const auto to_come = static_cast<double>(std::max<int64_t>(1, planned - turn.number + 1));
  return measured + to_come * last <= limits_.workload;
}

double LaunchSchedule::seconds_of_steps(std::span<const double> step_seconds) const {
  const EffortLevel& wants = level(effort_);
  const double mean =
      std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0) / static_cast<double>(step_seconds.size());
  const double needed = std::max(1.2 * static_cast<double>(wants.steps + 5) * mean, 1.2 * wants.seconds);
  return std::min(limits_.launch, needed);
}

std::optional<double> LaunchSchedule::remaining(double now, const AtHand& launch,
                                                std::span<const std::optional<double>> to_come,
                                                std::optional<double> mean) const {
  const bool stepping = !launch.step_seconds.empty();
  const double here = stepping ? seconds_of_steps(launch.step_seconds) : 0;
  std::optional<double> usual = mean;
  if (!usual && stepping) usual = here + (launch.running - launch.stepping);
  if (!usual) return std::nullopt;
  double total = stepping ? std::max(0.0, here - launch.stepping) : 0;
  for (const std::optional<double>& each : to_come) total += each.value_or(*usual);
  if (limits_.budget) total = std::min(total, std::max(0.0, began_ + *limits_.budget - now));
  return total;
}

}  // namespace tbd
