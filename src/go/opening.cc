#include "go/opening.h"

#include "base/error.h"

namespace tbd::go {

void require_opening(const OpeningLength& length) {
  require(length.fewest >= 0 && length.most >= length.fewest, "an opening has ", length.fewest, " to ", length.most,
          " moves");
}

std::vector<Move> random_opening(int size, const OpeningLength& length, RandomWords& words) {
  const int count = length.fewest + words.below(length.most - length.fewest + 1);
  std::vector<Move> moves;
  Game game(size, minigo_rules(size));
  for (int i = 0; i < count; ++i) {
    const Move move = random_move(game, Eyes::spare, words);
    game.play(move);
    if (game.over()) break;
    moves.push_back(move);
  }
  return moves;
}

}  // namespace tbd::go
