// Rounds are replayed from the first on, so that a standing follows from the rates alone.
#include "analysis/tune/race.h"

#include <algorithm>

namespace tbd {
namespace {

bool has_rounds(const Contender& contender, size_t rounds) { return contender.rates.size() >= rounds; }

RacePlace judged(const Interval& interval, const Interval& best_of_group) {
  if (interval.high < 1) return RacePlace::slower;
  if (interval.high * (1 + kMargin) < best_of_group.low) return RacePlace::beaten;
  return interval.high < 1 + kMargin ? RacePlace::tied : RacePlace::in;
}

// Of those in the race that were measured in all these rounds.
const Standing* leader_of_group(const std::string& group, std::span<const Standing> standings,
                                std::span<const Contender> contenders, size_t rounds) {
  const Standing* best = nullptr;
  for (size_t i = 0; i < contenders.size(); ++i) {
    const bool races = standings[i].place == RacePlace::in && has_rounds(contenders[i], rounds);
    if (!races || contenders[i].group != group) continue;
    if (!best || standings[i].gain->value > best->gain->value) best = &standings[i];
  }
  return best;
}

void judge_round(std::vector<Standing>& standings, std::span<const Contender> contenders, size_t rounds) {
  const std::vector<Standing> before = standings;
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (before[i].place != RacePlace::in || !has_rounds(contenders[i], rounds)) continue;
    const Standing& best = *leader_of_group(contenders[i].group, before, contenders, rounds);
    standings[i].place = judged(*before[i].gain->interval, *best.gain->interval);
    if (standings[i].place != RacePlace::in) standings[i].out_in_round = static_cast<int64_t>(rounds);
  }
}

}  // namespace

std::vector<Standing> race(std::span<const Contender> contenders) {
  std::vector<Standing> standings(contenders.size());
  size_t most = 0;
  for (const Contender& each : contenders) most = std::max(most, each.rates.size());
  for (size_t rounds = 1; rounds <= most; ++rounds) {
    for (size_t i = 0; i < contenders.size(); ++i)
      if (const Contender& one = contenders[i]; standings[i].place == RacePlace::in && has_rounds(one, rounds))
        standings[i].gain = paired_ratio(Series(one.rates).first(rounds), Series(one.base).first(rounds));
    if (rounds >= static_cast<size_t>(kRoundsBeforeJudging)) judge_round(standings, contenders, rounds);
  }
  return standings;
}

bool is_settled(std::span<const Standing> standings, std::span<const Contender> contenders) {
  for (size_t i = 0; i < standings.size(); ++i) {
    if (standings[i].place != RacePlace::in || !standings[i].gain) continue;
    if (!standings[i].gain->interval || standings[i].gain->launches_a < kRoundsBeforeJudging) return false;
    if (standings[i].gain->interval->contains(1 + kMargin)) return false;
    for (size_t j = 0; j < i; ++j)
      if (standings[j].place == RacePlace::in && standings[j].gain && contenders[j].group == contenders[i].group)
        return false;
  }
  return true;
}

}  // namespace tbd
