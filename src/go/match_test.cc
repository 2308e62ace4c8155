#include "go/match.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "go/testing_networks.h"

namespace tbd::go {
namespace {
using testing_networks::AreaNetwork;
using testing_networks::HashNetwork;
using testing_networks::ZeroNetwork;

std::string match_bytes(const Match& match) {
  std::string bytes;
  for (const MatchGame& game : match.games) bytes += write_sgf(game.record);
  return bytes;
}

std::vector<Move> opening_moves(const MatchGame& game, size_t count) {
  std::vector<Move> moves;
  for (size_t i = 0; i < count; ++i) moves.push_back(game.record.moves.at(i).move);
  return moves;
}

TEST(Match, PlaysBothColoursFromEveryOpening) {
  HashNetwork network;
  AreaNetwork other;
  const SearchOptions search{.readouts = 16};
  const Match match =
      play_match(SearchPlayer{&network, search}, SearchPlayer{&other, search}, {.size = 5, .seed = 3, .pairs = 20});
  ASSERT_EQ(match.games.size(), 40u);
  std::set<std::vector<Move>> openings;
  for (size_t i = 0; i < 40; ++i) {
    const MatchGame& game = match.games[i];
    EXPECT_EQ(game.pair, static_cast<int64_t>(i / 2));
    EXPECT_EQ(game.first_is_black, i % 2 == 0);
    EXPECT_EQ(opening_moves(game, 2), opening_moves(match.games[i / 2 * 2], 2));
    EXPECT_EQ(replay(game.record, minigo_rules(5)).over(), true);
    openings.insert(opening_moves(game, 2));
  }
  EXPECT_GT(openings.size(), 15u);
}

TEST(Match, KomiDecidesWhoWins) {
  HashNetwork network;
  const Player player = SearchPlayer{&network, {.readouts = 8}};
  for (const double komi : {-25.5, 25.5}) {
    const Match match = play_match(player, player, {.size = 5, .komi = komi, .pairs = 4});
    EXPECT_EQ(match_counts(match.games).black_wins, komi < 0 ? 8 : 0);
    EXPECT_EQ(match.games[0].record.komi, komi);
  }
}

// A player without chance against itself plays one game twice: every pair is even.
TEST(Match, APlayerIsItsOwnEqual) {
  HashNetwork network;
  const Player player = SearchPlayer{&network, {.readouts = 20, .leaves = 3}};
  const Match match = play_match(player, player, {.size = 5, .pairs = 15, .symmetries = false});
  const MatchCounts counts = match_counts(match.games);
  EXPECT_EQ(counts.won, 15);
  EXPECT_EQ(counts.lost, 15);
  EXPECT_EQ(counts.pairs[2], 15);
  EXPECT_LE(counts.distinct, 15);
  for (size_t i = 0; i < 30; i += 2) EXPECT_EQ(match.games[i].record.moves, match.games[i + 1].record.moves);
}

TEST(Match, GamesDependOnTheirNumberAlone) {
  HashNetwork network;
  const Player first = SearchPlayer{&network, {.readouts = 20, .leaves = 3}}, second = RandomPlayer{Eyes::fill};
  MatchOptions options{.size = 5, .seed = 5, .pairs = 10, .drawn_moves = 6};
  options.side_by_side = {.games = 1, .batch = 1};
  const std::string alone = match_bytes(play_match(first, second, options));
  for (const auto& beside : {SideBySideOptions{.games = 7, .batch = 8}, SideBySideOptions{.games = 30, .threads = 3}}) {
    options.side_by_side = beside;
    EXPECT_EQ(match_bytes(play_match(first, second, options)), alone);
  }
  options.pairs = 4;
  Match parts = play_match(first, second, options);
  options.first_pair = 4;
  options.pairs = 6;
  const Match rest = play_match(first, second, options);
  EXPECT_EQ(match_bytes(parts) + match_bytes(rest), alone);
  options.seed = 6;
  EXPECT_NE(match_bytes(play_match(first, second, options)), match_bytes(rest));
}

// An untrained network fills its own eyes, so that it loses to chance that does not (docs/go.md).
TEST(Match, RandomPlayersDifferByTheirEyes) {
  ZeroNetwork network;
  const Player search = SearchPlayer{&network, {.readouts = 64, .leaves = 1}};
  const MatchOptions options{.size = 5, .seed = 1, .pairs = 10, .opening = {0, 0}};
  const MatchCounts spare = match_counts(play_match(search, RandomPlayer{Eyes::spare}, options).games);
  const MatchCounts fill = match_counts(play_match(search, RandomPlayer{Eyes::fill}, options).games);
  EXPECT_LE(spare.won, 3);
  EXPECT_GE(fill.won, 5);
  EXPECT_GE(match_counts(play_match(RandomPlayer{Eyes::spare}, search, options).games).won, 17);
}

MatchGame won_by(Winner winner, bool first_is_black, Move move) {
  MatchGame game;
  game.winner = winner;
  game.first_is_black = first_is_black;
  game.record.moves = {{Color::black, move}};
  return game;
}

TEST(Match, CountsGamesAndPairs) {
  std::vector<MatchGame> games = {won_by(Winner::black, true, 1),  won_by(Winner::white, false, 2),
                                  won_by(Winner::black, true, 1),  won_by(Winner::black, false, 1),
                                  won_by(Winner::white, true, 1),  won_by(Winner::black, false, 3),
                                  won_by(Winner::nobody, true, 4), won_by(Winner::white, false, 5)};
  games[7].ending = Ending::length;
  const MatchCounts counts = match_counts(games);
  EXPECT_EQ(counts.won, 4);
  EXPECT_EQ(counts.drawn, 1);
  EXPECT_EQ(counts.lost, 3);
  EXPECT_EQ(counts.pairs, (std::array<int64_t, 5>{1, 0, 1, 1, 1}));
  EXPECT_EQ(counts.black_wins, 4);
  EXPECT_EQ(counts.distinct, 5);
  EXPECT_EQ(counts.ended_by_length, 1);
  games.pop_back();
  EXPECT_THROW(match_counts(games), Error);
}

TEST(Match, RefusesWhatCannotBePlayed) {
  const Player random = RandomPlayer{};
  EXPECT_THROW(play_match(SearchPlayer{}, random, {}), Error);
  EXPECT_THROW(play_match(random, random, {.pairs = -1}), Error);
  EXPECT_THROW(play_match(random, random, {.komi = 7.3}), Error);
  EXPECT_THROW(play_match(random, random, {.opening = {.fewest = 5}}), Error);
}

}  // namespace
}  // namespace tbd::go
