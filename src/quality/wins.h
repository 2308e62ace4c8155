// What won games show: intervals, Elo, and sequential tests that say when a match has shown enough.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "stats/wilson.h"

namespace tbd {

struct GameCounts {
  int64_t wins = 0, draws = 0, losses = 0;
};

// Wins and half the draws among the games. Throws Error(invalid) without games or for a negative count.
double match_score(const GameCounts& games);
// Elo 1978, The Rating of Chessplayers: how much stronger the one with this score is, -400 log10(1 / score - 1).
// Infinite at 0 and 1: say "below" and "above". Throws Error(invalid) outside of [0, 1].
double elo(double score);
// The expected score of the one who is `elo` points stronger.
double expected_score(double elo);
// Elo at the ends of Wilson's interval of the score. No interval for a match that a sequential test has stopped.
ShareInterval elo_interval(const GameCounts& games);

enum class SprtResult { undecided, accept_h0, accept_h1 };

// Wald 1945, Annals of Mathematical Statistics 16: the hypothesis p0 of the chance to win a game against p1. A match
// that ends undecided accepts nothing.
struct SprtErrors {
  double false_h1 = 0.05, false_h0 = 0.05;  // alpha, beta
};
struct LogBounds {
  double low = 0, high = 0;  // at or below: accept h0; at or above: accept h1
};
LogBounds sprt_bounds(const SprtErrors& errors = {});
SprtResult sprt_result(double log_likelihood_ratio, const SprtErrors& errors = {});
// Of wins and losses alone. Throws Error(invalid) unless 0 < p0 < p1 < 1, and for negative counts.
double sprt_ratio(int64_t wins, int64_t losses, double p0, double p1);

// The generalized test of Elo elo0 against elo1 on units of play with scores 0, 1/(k-1), ... 1, of which
// `counts` (k numbers) tells how many there were: {losses, draws, wins} of single games; of pairs that share an opening
// {0, 1/2, 1, 3/2, 2 points}, since games of a pair are not independent.
//   n (s1 - s0) (2 m - s0 - s1) / (2 v), m and v the mean and variance of a unit's score.
// Where all units have one score v is 0, and the ratio is that of wins and losses alone with the chances s0 and s1.
// Throws Error(invalid) for fewer than two numbers, a negative one, and unless elo0 < elo1.
double gsprt_ratio(std::span<const int64_t> counts, double elo0, double elo1);
double gsprt_ratio(const GameCounts& games, double elo0, double elo1);

}  // namespace tbd
