#include "selfplay/matches.h"

#include <algorithm>

#include "quality/wins.h"

namespace tbd {
namespace {

constexpr int64_t kPairsAtATime = 10;
constexpr double kStrongerScore = 0.55;

std::string verdict_of(std::span<const int64_t> pairs) {
  switch (sprt_result(gsprt_ratio(pairs, 0, elo(kStrongerScore)))) {
    case SprtResult::accept_h1:
      return "stronger";
    case SprtResult::accept_h0:
      return "not stronger";
    case SprtResult::undecided:
      return "undecided";
  }
  return "undecided";
}

}  // namespace

MatchRow match_row(const go::Match& match, const std::string& opponent, int64_t readouts) {
  const go::MatchCounts counts = go::match_counts(match.games);
  return {.opponent = opponent,
          .readouts = readouts,
          .won = counts.won,
          .drawn = counts.drawn,
          .lost = counts.lost,
          .distinct = counts.distinct,
          .black_wins = counts.black_wins,
          .ended_by_length = counts.ended_by_length,
          .verdict = ""};
}

MatchRow sequential_match(const go::Player& first, const go::Player& second, go::MatchOptions options, int64_t most,
                          const std::string& opponent, int64_t readouts) {
  go::Match all;
  std::string verdict = "undecided";
  while (verdict == "undecided" && options.first_pair < most) {
    options.pairs = std::min(kPairsAtATime, most - options.first_pair);
    go::Match part = go::play_match(first, second, options);
    options.first_pair += options.pairs;
    std::ranges::move(part.games, std::back_inserter(all.games));
    verdict = verdict_of(go::match_counts(all.games).pairs);
  }
  MatchRow row = match_row(all, opponent, readouts);
  row.verdict = verdict;
  return row;
}

}  // namespace tbd
