// The launches of a set: their order, what time they are foreseen to take and what time allows. Knows no process, no
// file and no clock: moments are seconds on the caller's.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/workload_words.h"
#include "stats/effort.h"

namespace tbd {

struct Turn {
  size_t workload;  // of the set
  Pass pass;
  int64_t number;  // of the launch within the pass, from 1
};

using LaunchCounts = std::map<Pass, int64_t>;  // by pass
int64_t total(const LaunchCounts& counts);

// Seconds.
struct TimeLimits {
  double launch = 0;             // from the end of its first step
  double workload = 0;           // for all its launches of a pass, those included that are measured again
  std::optional<double> budget;  // for the set, from its begin
};
// The effort's, but for a limit of a launch that a person named: a workload then has that of `launches` such launches.
TimeLimits time_limits(Effort effort, int64_t launches, std::optional<double> launch_limit,
                       std::optional<double> budget);

// Seconds of steps of one launch of a pass, where clean ones have `limit`. Of the other passes there is one launch at
// first: it has the time of all clean ones together, but no more than a launch of its effort, unless a clean one has
// more.
double launch_limit(const Pass& pass, Effort effort, int64_t launches, double limit);

class LaunchSchedule {
 public:
  // `launches`: of the pass clean; each other pass has one. `began`: the begin of the set.
  // With `pair_seed` launches lie in pairs (RunOptions).
  LaunchSchedule(std::vector<Pass> passes, Effort effort, int64_t launches, TimeLimits limits, double began,
                 std::optional<uint64_t> pair_seed = {});

  int64_t launches() const { return launches_; }  // of the pass clean
  LaunchCounts planned() const;                   // of each workload
  const TimeLimits& limits() const { return limits_; }
  double limit_of(const Pass& pass) const { return launch_limit(pass, effort_, launches_, limits_.launch); }
  double began() const { return began_; }

  // Pass by pass, so that launches of one workload that are averaged lie among those of the others. Within a budget
  // three clean launches come first, then memory, whose launches have the fewest steps, then the other passes, and
  // further clean launches last: time that runs out widens intervals before it leaves out what a step does.
  std::vector<Turn> turns(size_t workloads) const;

  // How many of these turns come before the further clean launches: after them it is known what is undecided. All of
  // them where nothing limits the time of the set.
  size_t first_turns(std::span<const Turn> turns) const;

  // How many launches workloads go on to which leave something undecided: in round 1 to as many clean ones as
  // launches(), before the others do, and to three traced ones, or launches() if that is less; then to twice and to
  // four times as many. Nothing is undecided for want of other passes. 0: no further round.
  int64_t launches_in_round(int round, const Pass& pass = Pass::kClean) const;
  // Up to that number of the round, in turns: in the first one traced launches before clean ones, since there was one
  // of them so far, then clean ones first. Those that are done are among them.
  struct Further {
    size_t workload;
    std::vector<Pass> passes;
  };
  std::vector<Turn> further(std::span<const Further> of, int round) const;

  // Whether what takes `seconds` from `now` on ends within the budget.
  bool in_time(double now, double seconds) const;

  // Whether the workload's time lasts for the launch once more and for the clean ones that are still to come, if each
  // takes what this one took: the pass used `measured` seconds so far, this launch's `last` included. Pass memory,
  // whose counts other work does not change, effort smoke and pairs repeat none.
  bool may_repeat(const Turn& turn, double measured, double last) const;

  // Upper estimate of what a launch with steps of these seconds takes after its first step: what its effort wants, a
  // fifth more, at most its limit. `step_seconds` holds one at least.
  double seconds_of_steps(std::span<const double> step_seconds) const;

  // A launch while it runs.
  struct AtHand {
    std::span<const double> step_seconds;  // empty: it does not step yet
    double stepping = 0;                   // since the end of its first step
    double running = 0;                    // since its start
  };
  // What is left of the launch at hand and of those to come at `now`, each as long as is foreseen of it, or else as
  // `mean`, or else as the one at hand; never beyond the budget. nullopt: nothing is known of any.
  std::optional<double> remaining(double now, const AtHand& launch, std::span<const std::optional<double>> to_come,
                                  std::optional<double> mean) const;

 private:
  std::vector<Pass> passes_;
  Effort effort_;
  int64_t launches_;
  TimeLimits limits_;
  double began_;
  std::optional<uint64_t> pair_seed_;
};

}  // namespace tbd
