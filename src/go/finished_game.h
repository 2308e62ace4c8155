// A game of the program's own players: its record and how it ended.
#pragma once
#include <span>
#include <vector>

#include "go/sgf.h"

namespace tbd::go {

enum class Ending {
  passes,       // two in a row
  length,       // so many moves that the rules end it
  resignation,  // of the loser
};

struct FinishedGame {
  SgfGame record;
  Winner winner = Winner::unknown;
  Ending ending = Ending::passes;
};
// By area, `game` being its last position.
void end_by_score(const Game& game, FinishedGame& finished);
void end_by_resignation(Color loser, FinishedGame& finished);

// How many have different moves.
int64_t distinct_games(std::span<const FinishedGame* const> games);

}  // namespace tbd::go
