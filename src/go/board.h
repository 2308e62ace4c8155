// Stones on a board, with their groups: what a move may do and what it does. Knows no past but the last ko; game.h
// does.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "go/geometry.h"
#include "go/point.h"

namespace tbd::go {

// Why a move may not be played.
enum class Legality : uint8_t { legal, off_board, occupied, suicide, ko, superko };
std::string_view reason(Legality why);  // "the point is occupied"

// About 7 KB in one piece, without memory elsewhere: copying is one memcpy, and no move allocates.
class Board {
 public:
  explicit Board(int size);  // empty, Black to play; throws Error(invalid) as require_size
  // Stones placed at once, none of them captured: set-up positions. cells: B * B of black, white or none, row by row.
  // Throws Error(invalid) for another count and where a group has no liberty.
  Board(int size, std::span<const Color> cells);

  int size() const { return geometry_->size; }
  int points() const { return size() * size(); }
  Move pass() const { return points(); }
  Color at(int point) const { return cells_[static_cast<size_t>(point)]; }
  const Stones& stones() const { return stones_; }
  Bits empty_points() const;
  uint64_t hash() const { return hash_; }  // of the stones alone: positions as positional superko compares them
  Color to_play() const { return to_play_; }
  void set_to_play(Color player) { to_play_ = player; }

  // By the rules without superko: suicide is refused, and so is the recapture, at once, of a single stone that has
  // captured a single stone. A pass is always legal. Any `move` may be asked about.
  Legality legality(Color player, Move move) const;
  // hash() after a legal move.
  uint64_t hash_after(Color player, Move move) const;
  // Plays a legal move; the other player is then to play. The number of stones captured.
  int play(Color player, Move move);

  int liberties(int point) const;  // of the group at `point`, counted by a walk; 0 for an empty point
  // An empty point whose neighbours are all stones of `player`, and of whose diagonals at most one, at the edge none,
  // is an opponent's: the eye that no sane player fills.
  bool is_eye(Color player, int point) const;

 private:
  // Liberties are counted once for each stone beside them; with the sum of the points and that of their squares it is
  // known whether they are all the same point: n * squares = sum * sum only then (Cauchy-Schwarz).
  struct Group {
    uint32_t sum = 0, squares = 0;
    uint16_t liberties = 0, stones = 0;
  };
  Group& group_at(int point) { return groups_[head_[static_cast<size_t>(point)]]; }
  const Group& group_at(int point) const { return groups_[head_[static_cast<size_t>(point)]]; }
  bool in_atari(int point) const;
  void place(Color player, int point);
  void merge(int a, int b);
  int remove_group(int point);
  void flip_stone(Color player, int point);
  static void add_liberty(Group& group, int point);
  static void drop_liberty(Group& group, int point);

  const Geometry* geometry_;
  const ZobristKeys* keys_;
  uint64_t hash_;
  Stones stones_ = {};
  Color to_play_ = Color::black, banned_ = Color::none;  // banned_ may not play at ko_
  int ko_ = -1;
  std::array<Color, kMaxPoints + 1> cells_;
  std::array<uint16_t, kMaxPoints> head_, next_;  // of a stone: its group's number; the next stone of it, in a ring
  std::array<Group, kMaxPoints> groups_;          // by the number of the group
};

}  // namespace tbd::go
