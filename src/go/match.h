// Matches of two players: pairs of games from the same opening, each player having Black in one of the two. A pair is
// the unit of statistics, since strong players may win one colour always.
#pragma once
#include <array>
#include <string>
#include <variant>
#include <vector>

#include "go/finished_game.h"
#include "go/opening.h"
#include "go/search.h"
#include "go/side_by_side.h"

namespace tbd::go {

struct SearchPlayer {
  Evaluator* network = nullptr;
  SearchOptions search = {};  // the tree is kept from move to move
};
struct RandomPlayer {
  Eyes eyes = Eyes::spare;
};
struct GnuGoPlayer {              // a process for each game
  std::string program = "gnugo";  // as gnugo() takes it
  int level = 1;                  // 0 to 10
  double seconds = 120;           // for each reply
};
using Player = std::variant<SearchPlayer, RandomPlayer, GnuGoPlayer>;

struct MatchOptions {
  int size = 9;
  double komi = 7.5;  // in halves
  uint64_t seed = 0;
  int64_t first_pair = 0, pairs = 1;  // the pairs first_pair, ... of the seed: a match can go on; below 2^31
  OpeningLength opening = {};
  int drawn_moves = 0;  // searching players draw so many moves of the game, from its first, by visits
  bool symmetries = true;
  SideBySideOptions side_by_side = {};
};

struct MatchGame : FinishedGame {
  int64_t pair = 0;
  bool first_is_black = true;  // the first of the two players
};
// What a game is worth to the first player, in halves: 2 won, 1 drawn, 0 lost.
int halves_of_first(const MatchGame& game);

struct Match {
  std::vector<MatchGame> games;  // two a pair, side by side: the first player is Black in the earlier one
  BatchCounts batches;
};
// By minigo_rules, but for the komi; GNU Go alone resigns. Games depend on their number alone, as in self_play. Throws
// as GtpEngine does.
Match play_match(const Player& first, const Player& second, const MatchOptions& options);

struct MatchCounts {
  int64_t won = 0, drawn = 0, lost = 0;  // by the first player
  std::array<int64_t, 5> pairs = {};     // by what both games are worth to the first player, in halves
  int64_t black_wins = 0, ended_by_length = 0, distinct = 0;
};
MatchCounts match_counts(std::span<const MatchGame> games);

}  // namespace tbd::go
