// How `tbd tune` goes about it, apart from measuring: gates, a race of single remedies, the winners of different axes
// joined one by one. The final comparison is the caller's, who keeps time for it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/tune/race.h"
#include "analysis/tune/remedies.h"

namespace tbd {

// One launch of a workload.
struct Trial {
  std::optional<double> rate;  // units/s; absent: it has none
  std::string kind, reason;    // of a launch without a rate: "oom" and a sentence
  std::optional<double> loss;  // of its first step; absent where another launch would draw another one
};

// What measures. Moments are seconds on its clock.
class TuneBench {
 public:
  virtual ~TuneBench() = default;
  virtual double now() = 0;
  // A launch of each, in turns; in their order. Fewer: it was interrupted.
  virtual std::vector<Trial> measure(const std::vector<Workload>& workloads, const std::string& round) = 0;
  // Why the equality gates refuse the workload; empty where it passes.
  virtual std::string refusal(const Workload& workload) = 0;
};

struct TuneLimits {
  double deadline = 0;        // nothing begins that is not foreseen to end by then
  double reserve = 0;         // seconds before it that are the final comparison's
  double launch_seconds = 0;  // of the workload as it is, seen before
  double check_seconds = 20;  // of the gates for one workload, until some were seen
  int64_t rounds = 6;         // of a heat, at most
};

enum class RemedyState { won, faster, undecided, tied, slower, eliminated, refused, failed, untried };
std::string_view name(RemedyState state);

struct RemedyResult {
  Candidate candidate;
  RemedyState state = RemedyState::untried;
  std::optional<Ratio> gain;  // over the workload as it is, paired by round of the race
  int64_t round = 0;          // in which it left the race; 0: it did not
  std::string reason;         // of refused, failed, untried, eliminated, and of a winner that was not joined
};

struct Tuned {
  std::vector<RemedyResult> remedies;  // in the order of the candidates
  std::vector<Candidate> winner;       // joined, in the order of their gains; empty: nothing is faster
  Workload workload;                   // with the winner's settings
  int64_t rounds = 0;                  // of all heats
};

// Candidates race all at once or, where the time for that is short, in heats, the first ones first; those that time
// does not last for are untried. Remedies of an axis exclude each other. One whose gain is at least kMargin is joined
// to those of larger gains and kept where it brings kMargin beside them, too.
Tuned tune(const Workload& workload, const std::vector<Candidate>& candidates, const TuneLimits& limits,
           TuneBench& bench);

// Seconds for the least that answers anything, after the workload as it is was measured: a race of one remedy, and
// `reserve`.
double least_seconds(const TuneLimits& limits);

// The final comparison: the seconds that so many pairs of launches take at most, and the number of pairs, between
// `fewest` and `most`, for which `seconds` are enough.
double pairs_seconds(int64_t pairs, double launch_seconds);
int64_t pairs_within(double seconds, double launch_seconds, int64_t fewest, int64_t most);

// Why losses of a first step, from the same weights and batch, are not those of one computation: they differ by more
// than the square root of the precision's epsilon, relative. Empty where they may be, and where one is unknown. Later
// losses tell nothing: an update makes rounding grow (docs/tune.md).
std::string loss_differs(const std::optional<double>& usual, const std::optional<double>& other,
                         const Precision& precision);

}  // namespace tbd
