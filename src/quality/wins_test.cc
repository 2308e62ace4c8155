#include "quality/wins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"

namespace tbd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Within 1e-9, relative above 1.
void expect_equal(double value, const Json& expected) {
  const double wanted = expected.get<double>();
  EXPECT_NEAR(value, wanted, 1e-9 * std::max(1.0, std::abs(wanted)));
}
const Json& wins_golden() {
  static const Json all = parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/wins.json"), "wins.json");
  return all;
}

TEST(WinsGolden, WilsonAndElo) {
  const Json& golden = wins_golden();
  for (const Json& each : golden.at("wilson_95")) {
    const ShareInterval interval = wilson_interval(each.at("wins").get<double>(), each.at("games").get<int64_t>());
    expect_equal(interval.low, each.at("interval")[0]);
    expect_equal(interval.high, each.at("interval")[1]);
  }
  for (const Json& each : golden.at("elo")) expect_equal(elo(each.at("score").get<double>()), each.at("elo"));
}

TEST(WinsGolden, SequentialTests) {
  const Json& golden = wins_golden();
  for (const Json& each : golden.at("sprt"))
    expect_equal(sprt_ratio(each.at("wins").get<int64_t>(), each.at("losses").get<int64_t>(),
                            each.at("p0").get<double>(), each.at("p1").get<double>()),
                 each.at("llr"));
  for (const Json& each : golden.at("gsprt")) {
    const GameCounts games = {each.at("wins").get<int64_t>(), each.at("draws").get<int64_t>(),
                              each.at("losses").get<int64_t>()};
    expect_equal(gsprt_ratio(games, each.at("elo0").get<double>(), each.at("elo1").get<double>()), each.at("llr"));
  }
  const Json& bounds = golden.at("sprt_bounds_alpha_beta_0.05");
  expect_equal(sprt_bounds().low, bounds[0]);
  expect_equal(sprt_bounds().high, bounds[1]);
}

TEST(Wilson, ClaimsOfTwoHundredGames) {
  EXPECT_LT(wilson_interval(200, 200).low, 0.99);
  EXPECT_GE(wilson_interval(381, 381).low, 0.99);
  EXPECT_LT(wilson_interval(380, 380).low, 0.99);
  EXPECT_GE(wilson_interval(189, 200).low, 0.9);
  EXPECT_LT(wilson_interval(188, 200).low, 0.9);
}

TEST(Wilson, HoldsTheShareAndIsSymmetric) {
  for (int64_t n = 1; n <= 60; ++n)
    for (int64_t wins = 0; wins <= n; ++wins) {
      const double won = static_cast<double>(wins), lost = static_cast<double>(n - wins);
      const ShareInterval interval = wilson_interval(won, n), turned = wilson_interval(lost, n);
      const double share = won / static_cast<double>(n);
      ASSERT_TRUE(interval.low <= share && share <= interval.high && interval.low < interval.high);
      ASSERT_TRUE(interval.low >= 0 && interval.high <= 1);
      ASSERT_NEAR(interval.low, 1 - turned.high, 1e-12);
      if (wins > 0) {
        ASSERT_GT(interval.low, wilson_interval(won - 1, n).low);
      }
    }
}

TEST(Elo, IsTheInverseOfTheExpectedScore) {
  for (double points = -800; points <= 800; points += 10) EXPECT_NEAR(elo(expected_score(points)), points, 1e-9);
  EXPECT_EQ(elo(0), -kInfinity);
  EXPECT_EQ(elo(1), kInfinity);
}

TEST(Elo, IntervalIsOpenWhereAllIsWon) {
  const ShareInterval all = elo_interval({.wins = 200});
  EXPECT_EQ(all.high, kInfinity);
  EXPECT_NEAR(all.low, elo(wilson_interval(200, 200).low), 1e-9);
  const ShareInterval none = elo_interval({.losses = 200});
  EXPECT_EQ(none.low, -kInfinity);
  EXPECT_NEAR(none.high, -all.low, 1e-6);
}

TEST(Elo, DrawsAreHalfWon) {
  const ShareInterval drawn = elo_interval({.draws = 100}), split = elo_interval({.wins = 50, .losses = 50});
  EXPECT_DOUBLE_EQ(match_score({.wins = 1, .draws = 1, .losses = 2}), 0.375);
  EXPECT_DOUBLE_EQ(drawn.low, split.low);
  EXPECT_DOUBLE_EQ(drawn.high, split.high);
}

// Error rates of the test as it is used: games until a bound is met.
double share_of_h1(double chance, uint32_t step) {
  constexpr int kMatches = 400;
  int accepted = 0;
  for (uint32_t match = 0; match < kMatches; ++match) {
    const Philox draws(9, "test/games", step, match);
    int64_t wins = 0, losses = 0;
    SprtResult result = SprtResult::undecided;
    while (result == SprtResult::undecided) {
      if (draws.uniform(static_cast<uint64_t>(wins + losses)) < chance)
        ++wins;
      else
        ++losses;
      result = sprt_result(sprt_ratio(wins, losses, 0.4, 0.6));
    }
    accepted += result == SprtResult::accept_h1;
  }
  return accepted / static_cast<double>(kMatches);
}

TEST(Sprt, ErrsAsRarelyAsAsked) {
  EXPECT_LE(share_of_h1(0.4, 0), 0.08);
  EXPECT_GE(share_of_h1(0.6, 1), 0.92);
}

TEST(Sprt, BoundsDecide) {
  EXPECT_EQ(sprt_result(sprt_bounds().high), SprtResult::accept_h1);
  EXPECT_EQ(sprt_result(sprt_bounds().low), SprtResult::accept_h0);
  EXPECT_EQ(sprt_result(0), SprtResult::undecided);
}

TEST(Gsprt, FallsBackWhereAllGamesEndAlike) {
  const double won = gsprt_ratio(GameCounts{.wins = 50}, 0, 35);
  EXPECT_DOUBLE_EQ(won, sprt_ratio(50, 0, expected_score(0), expected_score(35)));
  EXPECT_GT(won, 0);
  EXPECT_LT(gsprt_ratio(GameCounts{.losses = 50}, 0, 35), 0);
  EXPECT_EQ(gsprt_ratio(GameCounts{.draws = 50}, 0, 35), 0);
  EXPECT_EQ(gsprt_ratio(GameCounts{}, 0, 35), 0);
}

TEST(Gsprt, IsAntisymmetric) {
  const double ratio = gsprt_ratio(GameCounts{60, 15, 40}, -20, 35);
  EXPECT_NEAR(gsprt_ratio(GameCounts{40, 15, 60}, -35, 20), -ratio, 1e-12);
}

TEST(Gsprt, PairsOfIndependentGamesSayWhatTheGamesSay) {
  // Wins with a chance of 0.6, two and two: 36 % 2 points, 48 % one, 16 % none.
  EXPECT_NEAR(gsprt_ratio(std::array<int64_t, 5>{16, 0, 48, 0, 36}, 0, 35), gsprt_ratio(GameCounts{120, 0, 80}, 0, 35),
              1e-9);
}

TEST(Wins, RefusesWhatNoMatchGives) {
  EXPECT_THROW(wilson_interval(0, 0), Error);
  EXPECT_THROW(wilson_interval(3, 2), Error);
  EXPECT_THROW(wilson_interval(std::nan(""), 2), Error);
  EXPECT_THROW(elo(1.5), Error);
  EXPECT_THROW(elo(std::nan("")), Error);
  EXPECT_THROW(match_score({}), Error);
  EXPECT_THROW(match_score({.wins = 3, .losses = -1}), Error);
  EXPECT_THROW(sprt_ratio(1, 1, 0.6, 0.4), Error);
  EXPECT_THROW(sprt_ratio(-1, 1, 0.4, 0.6), Error);
  EXPECT_THROW(sprt_bounds({.false_h1 = 0}), Error);
  EXPECT_THROW(gsprt_ratio(GameCounts{1, 1, 1}, 5, 5), Error);
  EXPECT_THROW(gsprt_ratio(std::array<int64_t, 3>{1, -1, 1}, 0, 5), Error);
  EXPECT_THROW(sprt_result(std::nan("")), Error);
}

}  // namespace
}  // namespace tbd
