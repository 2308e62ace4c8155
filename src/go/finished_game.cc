#include "go/finished_game.h"

#include <set>

namespace tbd::go {

void end_by_score(const Game& game, FinishedGame& finished) {
  const int score = game.score();
  finished.winner = score > 0 ? Winner::black : score < 0 ? Winner::white : Winner::nobody;
  finished.ending = game.passes() >= 2 ? Ending::passes : Ending::length;
  finished.record.result = result_text(score);
}

void end_by_resignation(Color loser, FinishedGame& finished) {
  finished.winner = loser == Color::black ? Winner::white : Winner::black;
  finished.ending = Ending::resignation;
  finished.record.result = loser == Color::black ? "W+R" : "B+R";
}

int64_t distinct_games(std::span<const FinishedGame* const> games) {
  std::set<std::vector<Move>> seen;
  for (const FinishedGame* game : games) {
    std::vector<Move> moves;
    for (const SgfMove& move : game->record.moves) moves.push_back(move.move);
    seen.insert(std::move(moves));
  }
  return static_cast<int64_t>(seen.size());
}

}  // namespace tbd::go
