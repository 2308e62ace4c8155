// Racing: what may make a workload faster is measured round by round beside the workload as it is, and what has surely
// lost is measured no more (Maron & Moore 1994, Hoeffding races, NIPS 6; Birattari et al. 2002, A racing algorithm for
// configuring metaheuristics, GECCO).
#pragma once
#include <span>
#include <vector>

#include "stats/compare.h"

namespace tbd {

constexpr int64_t kRoundsBeforeJudging = 3;

struct Contender {
  std::string group;          // of contenders that exclude each other: the name of their axis
  std::vector<double> rates;  // units/s of the rounds that it was in
  std::vector<double> base;   // of the workload as it is, in the same rounds
};

enum class RacePlace {
  in,      // still measured
  slower,  // its interval lies below 1
  tied,    // its interval lies below 1 + kMargin: it brings nothing that matters
  beaten,  // its interval lies below that of the best of its group by more than kMargin
};
struct Standing {
  std::optional<Ratio> gain;  // over the workload as it is, paired by round, of its rounds in the race
  RacePlace place = RacePlace::in;
  int64_t out_in_round = 0;  // from 1; 0: it is in
};

// From kRoundsBeforeJudging on contenders leave after each round of theirs, by 95 % intervals of all rounds so far
// (paired_ratio). One whose rates end while it is in is judged no further. Throws Error(invalid) on a rate that is not
// positive.
std::vector<Standing> race(std::span<const Contender> contenders);

// Whether further rounds decide nothing: no group has two contenders that are in, and none of these has 1 + kMargin in
// its interval. False before anything is judged.
bool is_settled(std::span<const Standing> standings, std::span<const Contender> contenders);

}  // namespace tbd
