// Games of a network against itself, to learn from (Silver et al. 2017, Methods, "Self-play";
// settings as in docs/go.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "go/finished_game.h"
#include "go/opening.h"
#include "go/search.h"
#include "go/side_by_side.h"

namespace tbd::go {

struct SelfPlayOptions {
  int size = 9;
  double komi = 7.5;  // in halves; a small board's first player wins by more than that (docs/go.md)
  uint64_t seed = 0;
  int64_t first_game = 0, games = 1;  // the games first_game, first_game + 1, ... of the seed; below 2^32
  SearchOptions search = {};
  OpeningLength opening = {.fewest = 0, .most = 0};  // moves before the first search: nothing to learn from
  double noise_weight = 0.25;
  std::optional<double> noise_alpha = {};  // nullopt: noise_alpha(size)
  std::optional<int> drawn_moves = {};     // nullopt: drawn_moves(size)
  // A player whose position is worth less to it resigns; nullopt: none does.
  std::optional<double> resign_below = {};
  double played_out = 0.1;  // share of games in which nobody resigns all the same
  bool symmetries = true;   // the network sees positions under symmetries
  SideBySideOptions side_by_side = {};
};

// The record has the policy of each move that was searched (write_search_policy).
struct SelfPlayGame : FinishedGame {
  int64_t number = 0;
  bool played_out = true;     // nobody could resign
  double winners_lowest = 1;  // the lowest value that the later winner saw for itself after a search
  SearchCounts counts;
};

struct SelfPlay {
  std::vector<SelfPlayGame> games;
  BatchCounts batches;
};
// By minigo_rules, but for the komi. All chance comes from Philox streams of (seed, move, game), so that a game depends
// on its number and not on the games beside it.
SelfPlay self_play(const SelfPlayOptions& options, Evaluator& network);
// How many games should begin at once: side_by_side.games, and all that are wanted as far as 256 MiB hold their trees.
// Games that begin late are the last ones, too few to fill a batch.
int games_at_once(const SelfPlayOptions& options);

// Sums over games; absent where there is no game of the kind.
struct SelfPlaySummary {
  int64_t games = 0, searched_moves = 0, distinct = 0, black_wins = 0, ended_by_length = 0, resigned = 0,
          played_out = 0;
  // Share of the games played out in which the winner would have resigned below `threshold`.
  std::optional<double> false_resignations;
  SearchCounts counts;
};
SelfPlaySummary summary(std::span<const SelfPlayGame> games, double threshold);
// What resignation_threshold judges: winners_lowest of the games played out.
std::vector<double> winners_lowest(std::span<const SelfPlayGame> games);

}  // namespace tbd::go
