#include "go/board.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tbd::go {
namespace {

size_t index(int point) { return static_cast<size_t>(point); }
bool is_player(Color color) { return color <= Color::white; }

}  // namespace

std::string_view reason(Legality why) {
  constexpr std::string_view kReasons[] = {"it is legal",
                                           "it lies outside the board",
                                           "the point is occupied",
                                           "its group would have no liberty (suicide)",
                                           "it retakes a ko at once",
                                           "it repeats an earlier position (superko)"};
  return kReasons[static_cast<size_t>(why)];
}

Board::Board(int size) : geometry_(&geometry(size)), keys_(&zobrist_keys()), hash_(keys_->empty) {
  cells_.fill(Color::border);
  std::fill_n(cells_.begin(), points(), Color::none);
  head_.fill(0);
  next_.fill(0);
}

Board::Board(int size, std::span<const Color> cells) : Board(size) {
  require(cells.size() == index(points()), "a board of ", size, "x", size, " has ", points(), " points, got ",
          cells.size());
  for (int point = 0; point < points(); ++point)
    if (is_player(cells[index(point)])) place(cells[index(point)], point);
  for (int point = 0; point < points(); ++point)
    require(!is_player(at(point)) || group_at(point).liberties > 0, "the group at ", gtp_text(point, size),
            " has no liberty");
}

Bits Board::empty_points() const {
  Bits empty = {};
  for (size_t i = 0; i < empty.size(); ++i) {
    const int inside = std::clamp(points() - 64 * static_cast<int>(i), 0, 64);
    const uint64_t board = inside == 64 ? ~uint64_t{0} : (uint64_t{1} << inside) - 1;
    empty[i] = board & ~(stones_[0][i] | stones_[1][i]);
  }
  return empty;
}

bool Board::in_atari(int point) const {
  const Group& group = group_at(point);
  return uint64_t{group.liberties} * group.squares == uint64_t{group.sum} * group.sum;
}

Legality Board::legality(Color player, Move move) const {
  if (move == pass()) return Legality::legal;
  if (move < 0 || move > points()) return Legality::off_board;
  if (at(move) != Color::none) return Legality::occupied;
  if (move == ko_ && player == banned_) return Legality::ko;
  for (const int beside : geometry_->neighbors[index(move)]) {
    const Color color = at(beside);
    if (color == Color::none) return Legality::legal;
    if (is_player(color) && (color == player) != in_atari(beside)) return Legality::legal;
  }
  return Legality::suicide;
}

uint64_t Board::hash_after(Color player, Move move) const {
  if (move == pass()) return hash_;
  uint64_t hash = hash_ ^ keys_->stones[static_cast<size_t>(player)][index(move)];
  const Color other = opposite(player);
  const auto& neighbors = geometry_->neighbors[index(move)];
  for (size_t i = 0; i < neighbors.size(); ++i) {
    const int beside = neighbors[i];
    if (at(beside) != other || !in_atari(beside)) continue;
    const auto same_group = [&](int earlier) {
      return at(earlier) == other && head_[index(earlier)] == head_[index(beside)];
    };
    if (std::any_of(neighbors.begin(), neighbors.begin() + static_cast<std::ptrdiff_t>(i), same_group)) continue;
    int stone = beside;
    do hash ^= keys_->stones[static_cast<size_t>(other)][index(stone)];
    while ((stone = next_[index(stone)]) != beside);
  }
  return hash;
}

int Board::play(Color player, Move move) {
  ko_ = -1;
  to_play_ = opposite(player);
  if (move == pass()) return 0;
  place(player, move);
  int captured = 0, last = -1;
  for (const int beside : geometry_->neighbors[index(move)])
    if (at(beside) == to_play_ && group_at(beside).liberties == 0) {
      last = beside;
      captured += remove_group(beside);
    }
  const Group& group = group_at(move);
  if (captured == 1 && group.stones == 1 && group.liberties == 1) {
    ko_ = last;
    banned_ = to_play_;
  }
  return captured;
}

void Board::place(Color player, int point) {
  cells_[index(point)] = player;
  head_[index(point)] = next_[index(point)] = static_cast<uint16_t>(point);
  groups_[index(point)] = {.stones = 1};
  flip_stone(player, point);
  for (const int beside : geometry_->neighbors[index(point)]) {
    const Color color = at(beside);
    if (color == Color::none) {
      add_liberty(group_at(point), beside);
    } else if (color != Color::border) {
      drop_liberty(group_at(beside), point);
      if (color == player && head_[index(beside)] != head_[index(point)]) merge(point, beside);
    }
  }
}

void Board::merge(int a, int b) {
  if (group_at(a).stones < group_at(b).stones) std::swap(a, b);
  const uint16_t kept = head_[index(a)];
  const Group& joined = group_at(b);
  Group& group = groups_[kept];
  group.sum += joined.sum;
  group.squares += joined.squares;
  group.liberties = static_cast<uint16_t>(group.liberties + joined.liberties);
  group.stones = static_cast<uint16_t>(group.stones + joined.stones);
  int stone = b;
  do head_[index(stone)] = kept;
  while ((stone = next_[index(stone)]) != b);
  std::swap(next_[index(a)], next_[index(b)]);
}

int Board::remove_group(int point) {
  const Color player = at(point);
  int stone = point, count = 0;
  do {
    cells_[index(stone)] = Color::none;
    flip_stone(player, stone);
    ++count;
  } while ((stone = next_[index(stone)]) != point);
  do {
    for (const int beside : geometry_->neighbors[index(stone)])
      if (is_player(at(beside))) add_liberty(group_at(beside), stone);
  } while ((stone = next_[index(stone)]) != point);
  return count;
}

void Board::flip_stone(Color player, int point) {
  hash_ ^= keys_->stones[static_cast<size_t>(player)][index(point)];
  flip(stones_[static_cast<size_t>(player)], point);
}

void Board::add_liberty(Group& group, int point) {
  const auto value = static_cast<uint32_t>(point);
  ++group.liberties;
  group.sum += value;
  group.squares += value * value;
}

void Board::drop_liberty(Group& group, int point) {
  const auto value = static_cast<uint32_t>(point);
  --group.liberties;
  group.sum -= value;
  group.squares -= value * value;
}

int Board::liberties(int point) const {
  if (!is_player(at(point))) return 0;
  Bits seen = {};
  int count = 0, stone = point;
  do {
    for (const int beside : geometry_->neighbors[index(stone)])
      if (at(beside) == Color::none && !has(seen, beside)) {
        flip(seen, beside);
        ++count;
      }
  } while ((stone = next_[index(stone)]) != point);
  return count;
}

bool Board::is_eye(Color player, int point) const {
  if (at(point) != Color::none) return false;
  for (const int beside : geometry_->neighbors[index(point)])
    if (at(beside) != player && at(beside) != Color::border) return false;
  int others = 0, edge = 0;
  for (const int corner : geometry_->diagonals[index(point)]) {
    others += at(corner) == opposite(player);
    edge |= at(corner) == Color::border;
  }
  return others + edge < 2;
}

}  // namespace tbd::go
