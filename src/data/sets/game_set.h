// Games of Go that GNU Go plays against itself (docs/data.md, "The set of games").
#pragma once
#include <filesystem>
#include <string>

#include "data/sets/made_set.h"

namespace tbd {

struct GameSetOptions {
  int64_t games = 200;
  int64_t board = 9;
  uint64_t seed = 1;
  int64_t level = 1;              // of GNU Go, 0 to 10
  double val_share = 0.1;         // of the games, at least one
  std::string program = "gnugo";  // a path, or a name in the usual folders
  int at_once = 1;                // games that are played beside each other; the files are the same
};

struct GameSetSummary {
  SetSummary set;
  int64_t train_games = 0, val_games = 0, moves = 0;
};

// Writes out_dir/{train,val}/NUMBER.sgf and out_dir/data.json. One process of GNU Go for each game, with a seed that
// `seed` and the number of the game decide, is asked for a move of either side in turn, until both pass, one resigns or
// 2 * board * board moves are played; its own final_score is RE otherwise. Area scoring, komi 7.5, simple ko, suicide
// forbidden. A game whose moves came before is played again with the next seed. The last val_share of the games are
// val. The same options and version of GNU Go give the same files.
// Throws Error(not_found) without GNU Go, Error(invalid) for options that make no sense, a move of it that the rules
// refuse, or an out_dir that is not empty, Error(io) where it gives no reply.
GameSetSummary make_game_set(const std::filesystem::path& out_dir, const GameSetOptions& options = {});

}  // namespace tbd
