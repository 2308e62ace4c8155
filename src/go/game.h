// A game: a board, its past as the rules and the network need it, and when it ends.
#pragma once
#include <array>
#include <cstdint>

#include "go/board.h"
#include "go/score.h"
#include "go/seen_positions.h"

namespace tbd::go {

enum class Ko {
  simple,              // a single stone may not retake a ko at once
  positional_superko,  // besides, no move but a pass may bring back any earlier position of the board
};

struct Rules {
  Ko ko = Ko::simple;
  int komi_half_points = 15;
  int max_moves = 0;  // the game ends after so many moves and passes; 0: no such end
};
// minigo: simple ko, two passes or 2 * B * B moves.
Rules minigo_rules(int size, double komi = 7.5);
// Throws Error(invalid) unless it is a number of halves that a board can decide.
void require_komi(double komi);

// Copying costs a Board and its last 8 positions, about 8 KB, and no allocation unless superko is kept.
class Game {
 public:
  static constexpr int kHistory = 8;  // positions that a network sees

  explicit Game(int size, const Rules& rules = {}) : Game(Board(size), rules) {}
  Game(const Board& start, const Rules& rules);  // the game begins with this position

  const Board& board() const { return board_; }
  const Rules& rules() const { return rules_; }
  Color to_play() const { return board_.to_play(); }
  void set_to_play(Color player) { board_.set_to_play(player); }
  int moves() const { return moves_; }    // and passes, played so far
  int passes() const { return passes_; }  // in a row, the last moves
  bool over() const { return passes_ >= 2 || (rules_.max_moves > 0 && moves_ >= rules_.max_moves); }

  Legality legality(Color player, Move move) const;
  Legality legality(Move move) const { return legality(to_play(), move); }
  bool legal(Move move) const { return legality(move) == Legality::legal; }

  // Plays a legal move (unchecked); the stones captured. Whether the game is over is for the caller to ask.
  int play(Color player, Move move);
  int play(Move move) { return play(to_play(), move); }
  // Passes so far do not count: the game goes on after two of them.
  void resume() { passes_ = 0; }

  // The stones `ago` moves ago, 0: now; where the game is younger, or from kHistory on, the oldest that is kept.
  const Stones& stones(int ago) const;
  // By area, in half points, komi taken off: positive where Black wins.
  int score() const { return half_points(area(board_), rules_.komi_half_points); }

 private:
  Board board_;
  Rules rules_;
  int moves_ = 0, passes_ = 0;
  std::array<Stones, kHistory> recent_ = {};  // by number of moves, modulo kHistory
  SeenPositions seen_;                        // all positions so far, where superko asks
};

}  // namespace tbd::go
