// Random openings, so that players without chance do not repeat one game, and either player wins some.
#pragma once
#include <vector>

#include "go/random_player.h"

namespace tbd::go {

struct OpeningLength {  // moves, both ends included
  int fewest = 2, most = 4;
};
void require_opening(const OpeningLength& length);

// Random moves that fill no eye, as many as chance decides; fewer where the game would end.
std::vector<Move> random_opening(int size, const OpeningLength& length, RandomWords& words);

}  // namespace tbd::go
