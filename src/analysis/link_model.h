// What an all-reduce of S bytes among n ranks takes, as a law with a few parameters (docs/link.md):
//   t(S, n) = alpha steps(n) + beta wire(n) S + gamma(type) S
// alpha: a step of the algorithm; beta: a byte on the wire; gamma: a byte to add up. Hockney 1994, Parallel Computing
// 20(3); Thakur, Rabenseifner & Gropp 2005, International Journal of High Performance Computing Applications 19(1).
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/link_sweep.h"
#include "stats/intervals.h"

namespace tbd {

// How an engine moves the bytes of an all-reduce. A ring of n ranks: 2 (n - 1) steps, and each rank sends
// 2 (n - 1) / n times S. A key-value store: a worker sends S and receives S, whatever n is.
struct Algorithm {
  double steps = 0;
  double wire = 0;  // bytes that a rank sends over S; the factor from algbw to busbw
  // Bytes of a sum go one way, then the other, so that another sum has the link the other way meanwhile.
  bool goes_both_ways = false;
};
Algorithm ring_of(int64_t workers);
Algorithm algorithm_of(std::string_view engine, int64_t workers);

// What the repetitions of one size say, in seconds and bytes per second; the names are those of nccl-tests.
struct LinkFigures {
  double fast = 0;  // the lower decile of the times: what is fitted
  double median = 0;
  double slow_share = 0;            // of repetitions that took more than twice the lower decile
  double algbw = 0;                 // S / fast
  double busbw = 0;                 // algbw times Algorithm::wire
  std::optional<double> busy = {};  // LinkTimes::busy_ns
};
LinkFigures figures_of(const LinkTimes& times, const Algorithm& algorithm);

struct LinkEstimate {
  double value = 0;
  Interval interval;  // 95 %, by bootstrap over the repetitions
};

struct LinkModel {
  std::string engine;
  std::vector<int64_t> workers;  // that were measured, ascending
  LinkEstimate alpha;            // seconds a step
  // Seconds a byte on the wire. Absent where the wire's factor was the same in all sweeps: beta and gamma then have one
  // slope, which is all in gamma and holds for that factor alone.
  std::optional<LinkEstimate> beta;
  std::map<DType, LinkEstimate> gamma;  // seconds a byte, by type
  // nullopt for a type that was not measured, and without beta for a number of workers that was not.
  std::optional<double> seconds(DType dtype, int64_t bytes, int64_t n) const;
};

struct LinkFit {
  std::optional<LinkModel> model;        // absent where `withheld` says why
  std::string withheld;                  // one sentence
  std::optional<double> worst_residual;  // largest |model / measured - 1| over the sizes; absent without enough sizes
};
inline constexpr double kWorstResidual = 0.2;  // above it there is no model

// Non-negative least squares on relative residuals of the lower deciles. All sweeps are of one engine; several numbers
// of workers tell beta and gamma apart. Throws Error(invalid) where the engines differ.
LinkFit fit_link(std::span<const LinkSweep> sweeps, uint64_t seed = 0);

// x >= 0 with the least sum over rows of (row . x - 1)^2; no more than about ten unknowns. A column that others make up
// gets 0.
std::vector<double> non_negative_solution(const std::vector<std::vector<double>>& rows);

// For people: "An exchange between 2 workers took 0.21 ms + S / 1.2 GB/s in fp32 ...", or why there is no law.
std::string link_sentence(const LinkFit& fit);

}  // namespace tbd
