// Game records in the Smart Game Format, FF[3] and FF[4] (red-bean.com/sgf), of Go (GM[1]): the main line.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "go/game.h"

namespace tbd::go {

enum class Winner { black, white, nobody, unknown };  // nobody: a draw, or a game declared void

struct SgfMove {
  Color player = Color::black;
  Move move = 0;
  bool operator==(const SgfMove&) const = default;
};

struct SgfGame {
  std::string file;             // as errors name it
  int size = kMaxSize;          // SZ; 19 where there is none
  std::optional<double> komi;   // KM
  int handicap = 0;             // HA
  std::string result;           // RE as it stands
  std::vector<int> black = {};  // AB of the root: points
  std::vector<int> white = {};  // AW of the root
  std::vector<SgfMove> moves;
  // (searched moves, B * B + 1): what a search found before each of the last moves; those before were not searched. A
  // property of ours, PI, says it by point: PI[dd:0.25][ee:0.75], with [:0.1] for the pass.
  std::vector<float> policies;
  size_t first_searched() const;                  // a move's index; without policies the number of moves
  std::map<std::string, std::string> properties;  // of the root, besides: PB, PW, RU, ... (the first value of each)
};

// The games of a collection: of each tree the first variation all along. Properties of the root count where they stand
// there; others than moves and set-up stones are passed over, as is text before the first tree. Two-letter points
// beside the board, moves that are no points, stones set up after the root, an unreadable SZ, KM or HA, a board that is
// not square or has no size of require_size, another game than Go, and malformed text are Error(invalid) naming `file`
// and the move near which they stand. Whether the moves are legal is not looked at (replay).
std::vector<SgfGame> read_sgf(std::string_view text, const std::string& file);

// RE: "B+3.5", "W+R", "W+Time", "0", "Draw", "Void", "?" or "". Throws Error(invalid) for anything else.
Winner winner_of(std::string_view result);

// FF[4]; read_sgf gives back the same game.
std::string write_sgf(const SgfGame& game);

// The position before the first move, the player of that move to play. Throws Error(invalid), by file, for set-up
// stones that cannot stand so.
Game start_of(const SgfGame& game, const Rules& rules);
// Plays move `index` (from 0) of the record. Throws Error(invalid), by file and move, when it is not legal, saying why.
void play_move(const SgfGame& record, size_t index, Game& game);
// All of the record's moves.
Game replay(const SgfGame& record, const Rules& rules);

}  // namespace tbd::go
