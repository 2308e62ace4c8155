#include "go/self_play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "go/search_choice.h"
#include "go/testing_networks.h"

namespace tbd::go {
namespace {
using testing_networks::AreaNetwork;
using testing_networks::HashNetwork;

SelfPlayOptions small_games(int64_t games) {
  return {.size = 5, .seed = 11, .games = games, .search = {.readouts = 24, .leaves = 4}};
}

std::string bytes_of(std::span<const SelfPlayGame> games) {
  std::string bytes;
  for (const SelfPlayGame& game : games) bytes += write_sgf(game.record);
  return bytes;
}

TEST(SelfPlay, TheSameSeedGivesTheSameGamesHoweverTheyArePlayed) {
  HashNetwork network;
  SelfPlayOptions options = small_games(12);
  options.side_by_side = {.games = 1, .batch = 1};
  const SelfPlay alone = self_play(options, network);
  const std::string bytes = bytes_of(alone.games);
  for (const auto& beside : {SideBySideOptions{.games = 5, .batch = 7}, SideBySideOptions{.games = 50, .batch = 128},
                             SideBySideOptions{.games = 6, .batch = 32, .threads = 4}}) {
    options.side_by_side = beside;
    const SelfPlay played = self_play(options, network);
    EXPECT_EQ(bytes_of(played.games), bytes);
    for (size_t i = 0; i < 12; ++i) EXPECT_EQ(played.games[i].record.policies, alone.games[i].record.policies);
    EXPECT_EQ(played.batches.positions, alone.batches.positions);
  }
  options.first_game = 4;
  options.games = 3;
  EXPECT_EQ(bytes_of(self_play(options, network).games), bytes_of(std::span(alone.games).subspan(4, 3)));
  options.seed = 12;
  EXPECT_NE(bytes_of(self_play(options, network).games), bytes_of(std::span(alone.games).subspan(4, 3)));
}

// Of games that begin one after another the last few cannot fill a batch.
TEST(SelfPlay, BeginsAllGamesAtOnceAsFarAsMemoryGoes) {
  SelfPlayOptions options = small_games(24);
  options.side_by_side = {.games = 10, .batch = 20};
  HashNetwork network;
  const BatchCounts few = self_play(options, network).batches;
  EXPECT_EQ(games_at_once(options), 24);
  options.side_by_side.games = games_at_once(options);
  const BatchCounts all = self_play(options, network).batches;
  EXPECT_EQ(all.positions, few.positions);
  EXPECT_LT(all.batches, few.batches * 95 / 100);

  options = {.size = 19, .games = 10'000, .search = {.readouts = 800}, .side_by_side = {.games = 8}};
  EXPECT_EQ(games_at_once(options), 21);
  options.search.readouts = 100'000;
  EXPECT_EQ(games_at_once(options), 8);
}

TEST(SelfPlay, GamesFollowTheRulesToTheirEnd) {
  HashNetwork network;
  const SelfPlay played = self_play(small_games(20), network);
  for (const SelfPlayGame& finished : played.games) {
    const Game game = replay(finished.record, minigo_rules(5));
    EXPECT_TRUE(game.over());
    EXPECT_EQ(finished.ending, game.passes() == 2 ? Ending::passes : Ending::length);
    EXPECT_EQ(finished.record.result, result_text(game.score()));
    EXPECT_EQ(finished.winner, game.score() > 0 ? Winner::black : Winner::white);
    EXPECT_EQ(write_sgf(read_sgf(write_sgf(finished.record), "a.sgf").at(0)), write_sgf(finished.record));
    EXPECT_EQ(finished.record.policies.size(), 26 * finished.record.moves.size());
    EXPECT_TRUE(finished.played_out);
  }
}

TEST(SelfPlay, KomiDecidesWhoWins) {
  HashNetwork network;
  SelfPlayOptions options = small_games(20);
  for (const double komi : {-25.5, 25.5}) {
    options.komi = komi;
    const SelfPlay played = self_play(options, network);
    EXPECT_EQ(summary(played.games, -0.9).black_wins, komi < 0 ? 20 : 0);
    EXPECT_EQ(played.games[0].record.komi, komi);
  }
  options.komi = 7.3;
  EXPECT_THROW(self_play(options, network), Error);
}

TEST(SelfPlay, BeginsWithRandomMovesThatAreNotLearnt) {
  HashNetwork network;
  SelfPlayOptions options = small_games(40);
  options.opening = {.fewest = 1, .most = 3};
  const SelfPlay played = self_play(options, network);
  std::set<size_t> lengths;
  std::set<Move> firsts;
  int64_t searched = 0;
  for (const SelfPlayGame& game : played.games) {
    lengths.insert(game.record.first_searched());
    firsts.insert(game.record.moves.at(0).move);
    searched += std::ssize(game.record.policies) / 26;
    EXPECT_TRUE(replay(game.record, minigo_rules(5)).over());
    EXPECT_EQ(write_sgf(read_sgf(write_sgf(game.record), "a.sgf").at(0)), write_sgf(game.record));
  }
  EXPECT_EQ(lengths, (std::set<size_t>{1, 2, 3}));
  EXPECT_GT(firsts.size(), 15u);
  EXPECT_EQ(summary(played.games, -0.9).searched_moves, searched);
  options.opening = {.fewest = 3, .most = 1};
  EXPECT_THROW(self_play(options, network), Error);
}

TEST(SelfPlay, PoliciesAreSharesAmongEmptyPointsAndThePass) {
  HashNetwork network;
  const SelfPlay played = self_play(small_games(6), network);
  for (const SelfPlayGame& finished : played.games) {
    const SgfGame& record = finished.record;
    Game game(5, minigo_rules(5));
    for (size_t i = 0; i < record.moves.size(); ++i) {
      const auto pi = std::span(record.policies).subspan(26 * i, 26);
      EXPECT_NEAR(std::accumulate(pi.begin(), pi.end(), 0.), 1, 1e-6);
      EXPECT_GT(pi[static_cast<size_t>(record.moves[i].move)], 0);
      for (int point = 0; point < 25; ++point)
        EXPECT_TRUE(pi[static_cast<size_t>(point)] == 0 || game.board().at(point) == Color::none);
      play_move(record, i, game);
    }
    EXPECT_EQ(read_sgf(write_sgf(record), "a.sgf").at(0).policies, record.policies);
  }
}

// Later moves are the most visited ones of a search of their own; the first two of 5 x 5 are drawn.
TEST(SelfPlay, DrawsFirstMovesAlone) {
  HashNetwork network;
  SelfPlayOptions options = small_games(30);
  const SelfPlay played = self_play(options, network);
  int late = 0, best = 0, early_best = 0;
  for (const SelfPlayGame& game : played.games)
    for (size_t i = 0; i < game.record.moves.size(); ++i) {
      const auto pi = std::span(game.record.policies).subspan(26 * i, 26);
      const bool largest = pi[static_cast<size_t>(game.record.moves[i].move)] == std::ranges::max(pi);
      (i < 2 ? early_best : best) += largest;
      late += i >= 2;
    }
  EXPECT_EQ(best, late);
  EXPECT_LT(early_best, 40);  // of 60
  EXPECT_GE(summary(played.games, -0.9).distinct, 29);
  options.drawn_moves = 0;
  options.noise_weight = 0;
  options.symmetries = false;
  EXPECT_EQ(summary(self_play(options, network).games, -0.9).distinct, 1);  // nothing is left to chance
  options.noise_weight = 0.25;
  EXPECT_GT(summary(self_play(options, network).games, -0.9).distinct, 20);
}

// Says always the same.
class ConstantNetwork final : public Evaluator {
 public:
  explicit ConstantNetwork(float value) : value_(value) {}
  void evaluate(std::span<const Question>, std::span<float> priors, std::span<float> values) override {
    std::ranges::fill(priors, 1.f);
    std::ranges::fill(values, value_);
  }

 private:
  float value_;
};

TEST(SelfPlay, ResignsBelowTheThresholdButNotInGamesPlayedOut) {
  ConstantNetwork network(0.99f);
  SelfPlayOptions options = small_games(200);
  options.search.readouts = 40;
  options.resign_below = -0.9;
  const SelfPlay played = self_play(options, network);
  const SelfPlaySummary sums = summary(played.games, -0.9);
  EXPECT_EQ(sums.resigned + sums.played_out, 200);
  EXPECT_NEAR(static_cast<double>(sums.played_out), 20, 15);
  for (const SelfPlayGame& game : played.games) {
    if (game.ending != Ending::resignation) continue;
    EXPECT_EQ(game.winner, Winner::black);
    EXPECT_EQ(game.record.result, "B+R");
    EXPECT_EQ(game.record.moves.size(), 1u);  // White gives up at its first turn
  }
}

TEST(SelfPlay, RemembersTheLowestValueThatTheWinnerSaw) {
  ConstantNetwork network(-0.9f);  // Black thinks that it loses all the time, and White that it wins
  SelfPlayOptions options = small_games(40);
  options.played_out = 1;
  options.resign_below = -0.85;
  const SelfPlay played = self_play(options, network);
  std::vector<double> black, white;
  for (const SelfPlayGame& game : played.games)
    (game.winner == Winner::black ? black : white).push_back(game.winners_lowest);
  ASSERT_FALSE(black.empty());
  ASSERT_FALSE(white.empty());
  for (const double lowest : black) EXPECT_LT(lowest, -0.8);
  for (const double lowest : white) EXPECT_GT(lowest, 0.3);
  const auto wrong = std::ranges::count_if(black, [](double lowest) { return lowest < -0.85; });
  EXPECT_EQ(summary(played.games, -0.85).false_resignations, static_cast<double>(wrong) / 40);
  EXPECT_EQ(summary({}, -0.85).false_resignations, std::nullopt);
}

TEST(SelfPlay, CountsWhatItSays) {
  AreaNetwork network;
  const SelfPlay played = self_play(small_games(10), network);
  const SelfPlaySummary sums = summary(played.games, -0.9);
  int64_t moves = 0, black = 0, length = 0;
  for (const SelfPlayGame& game : played.games) {
    moves += static_cast<int64_t>(game.record.moves.size());
    black += game.record.result[0] == 'B';
    length += game.record.moves.size() == 50 && game.record.moves[48].move != 25;
  }
  EXPECT_EQ(sums.games, 10);
  EXPECT_EQ(sums.searched_moves, moves);
  EXPECT_EQ(sums.black_wins, black);
  EXPECT_GE(sums.ended_by_length, length);
  EXPECT_EQ(sums.counts.evaluations, played.batches.positions);
}

TEST(SelfPlay, RefusesNumbersThatStreamsDoNotHave) {
  HashNetwork network;
  EXPECT_THROW(self_play({.first_game = -1}, network), Error);
  EXPECT_THROW(self_play({.first_game = int64_t{1} << 32, .games = 1}, network), Error);
  EXPECT_THROW(self_play({.played_out = 1.5}, network), Error);
  EXPECT_TRUE(self_play({.games = 0}, network).games.empty());
}

}  // namespace
}  // namespace tbd::go
