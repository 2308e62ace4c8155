#include "quality/wins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tbd {
namespace {

// Mean and population variance of a unit's score, and how many units there are.
struct Moments {
  double count = 0, mean = 0, variance = 0;
};
Moments moments(std::span<const int64_t> counts) {
  const auto score_of = [&](size_t index) {
    return static_cast<double>(index) / static_cast<double>(counts.size() - 1);
  };
  Moments moments;
  for (const int64_t count : counts) moments.count += static_cast<double>(count);
  if (moments.count == 0) return moments;
  for (size_t i = 0; i < counts.size(); ++i)
    moments.mean += static_cast<double>(counts[i]) * score_of(i) / moments.count;
  for (size_t i = 0; i < counts.size(); ++i)
    moments.variance += static_cast<double>(counts[i]) * std::pow(score_of(i) - moments.mean, 2) / moments.count;
  return moments;
}

void require_chance(double value, const char* name) {
  require(value > 0 && value < 1, name, " is ", value, ", not between 0 and 1");
}

}  // namespace

double match_score(const GameCounts& games) {
  require(std::min({games.wins, games.draws, games.losses}) >= 0, "a negative number of games");
  const auto played =
      static_cast<double>(games.wins) + static_cast<double>(games.draws) + static_cast<double>(games.losses);
  require(played > 0, "a score of no games");
  return (static_cast<double>(games.wins) + static_cast<double>(games.draws) / 2) / played;
}

double elo(double score) {
  require(score >= 0 && score <= 1, "a score of ", score, ", not between 0 and 1");
  if (score == 0) return -std::numeric_limits<double>::infinity();
  return -400 * std::log10(1 / score - 1);
}

double expected_score(double elo) { return 1 / (1 + std::pow(10, -elo / 400)); }

ShareInterval elo_interval(const GameCounts& games) {
  const int64_t played = games.wins + games.draws + games.losses;
  const double successes = match_score(games) * static_cast<double>(played);
  const ShareInterval share = wilson_interval(successes, played);
  return {.low = elo(share.low), .high = elo(share.high)};
}

LogBounds sprt_bounds(const SprtErrors& errors) {
  require_chance(errors.false_h1, "alpha");
  require_chance(errors.false_h0, "beta");
  require(errors.false_h1 + errors.false_h0 < 1, "alpha and beta sum to ", errors.false_h1 + errors.false_h0,
          ", which decides nothing");
  return {.low = std::log(errors.false_h0 / (1 - errors.false_h1)),
          .high = std::log((1 - errors.false_h0) / errors.false_h1)};
}

SprtResult sprt_result(double log_likelihood_ratio, const SprtErrors& errors) {
  require(!std::isnan(log_likelihood_ratio), "a log likelihood ratio that is not a number");
  const LogBounds bounds = sprt_bounds(errors);
  if (log_likelihood_ratio <= bounds.low) return SprtResult::accept_h0;
  if (log_likelihood_ratio >= bounds.high) return SprtResult::accept_h1;
  return SprtResult::undecided;
}

double sprt_ratio(int64_t wins, int64_t losses, double p0, double p1) {
  require(wins >= 0 && losses >= 0, "a negative number of games");
  require_chance(p0, "p0");
  require_chance(p1, "p1");
  require(p0 < p1, "p0 = ", p0, " is not below p1 = ", p1);
  return static_cast<double>(wins) * std::log(p1 / p0) + static_cast<double>(losses) * std::log((1 - p1) / (1 - p0));
}

double gsprt_ratio(std::span<const int64_t> counts, double elo0, double elo1) {
  require(counts.size() >= 2, "counts of ", counts.size(), " scores");
  require(std::ranges::min(counts) >= 0, "a negative number of games");
  require(elo0 < elo1, "elo0 = ", elo0, " is not below elo1 = ", elo1);
  const double s0 = expected_score(elo0), s1 = expected_score(elo1);
  const bool one_score = std::ranges::count_if(counts, [](int64_t count) { return count > 0; }) <= 1;
  if (one_score) return sprt_ratio(counts.back(), counts.front(), s0, s1);
  const Moments units = moments(counts);
  return units.count * (s1 - s0) * (2 * units.mean - s0 - s1) / (2 * units.variance);
}

double gsprt_ratio(const GameCounts& games, double elo0, double elo1) {
  return gsprt_ratio(std::array{games.losses, games.draws, games.wins}, elo0, elo1);
}

}  // namespace tbd
