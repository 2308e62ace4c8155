

#include "base/error.h"
#include "go/sgf.h"

namespace tbd::go {
namespace {

Board set_up(const SgfGame& record) {
  if (record.black.empty() && record.white.empty()) return Board(record.size);
  std::vector<Color> cells(static_cast<size_t>(record.size * record.size), Color::none);
  const auto put = [&](const std::vector<int>& points, Color color) {
    for (const int point : points) {
      Color& cell = cells[static_cast<size_t>(point)];
      require(cell == Color::none || cell == color, "both colours are set up at ", gtp_text(point, record.size));
      cell = color;
    }
  };
  put(record.black, Color::black);
  put(record.white, Color::white);
  return Board(record.size, cells);
}

}  // namespace

Game start_of(const SgfGame& record, const Rules& rules) try {
  Board board = set_up(record);
  const bool white_first =
      record.moves.empty() ? !record.black.empty() && record.white.empty() : record.moves[0].player == Color::white;
  board.set_to_play(white_first ? Color::white : Color::black);
  return Game(board, rules);
} catch (const Error& e) {
  throw e.within(cat(record.file, ": the set-up"));
}

void play_move(const SgfGame& record, size_t index, Game& game) {
  const auto [player, move] = record.moves[index];
  const Legality why = game.legality(player, move);
  if (why == Legality::legal) {
    game.play(player, move);
    return;
  }
  fail(ErrorKind::invalid, record.file, ": move ", index + 1, ": ", name(player), " at ", gtp_text(move, record.size),
       " is illegal: ", reason(why));
}

Game replay(const SgfGame& record, const Rules& rules) {
  Game game = start_of(record, rules);
  for (size_t i = 0; i < record.moves.size(); ++i) play_move(record, i, game);
  return game;
}

}  // namespace tbd::go
