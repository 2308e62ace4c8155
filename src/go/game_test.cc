#include "go/game.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "go/random_player.h"
#include "go/testing_boards.h"

namespace tbd::go {
namespace {
using testing_boards::board_of;
using testing_boards::picture_of;

// The rules written down once more, slowly: every question is answered by walking over the whole board.
class SlowGame {
 public:
  SlowGame(int size, Ko ko) : size_(size), ko_(ko), cells_(static_cast<size_t>(size * size), '.') {
    seen_.insert(cells_);
  }
  bool legal(char player, int point) const {
    if (cells_[static_cast<size_t>(point)] != '.') return false;
    std::string after = cells_;
    if (!put(after, player, point)) return false;
    return ko_ == Ko::simple ? after != before_last_ || !took_one_ : !seen_.contains(after);
  }
  void play(char player, int point) {
    before_last_ = cells_;
    took_one_ = false;
    if (point == size_ * size_) return;
    const auto stones = [this] { return std::ranges::count_if(cells_, [](char c) { return c != '.'; }); };
    const auto before = stones();
    put(cells_, player, point);
    took_one_ = stones() == before;
    seen_.insert(cells_);
  }
  const std::string& cells() const { return cells_; }

 private:
  std::vector<int> beside(int point) const {
    std::vector<int> out;
    if (point % size_ > 0) out.push_back(point - 1);
    if (point % size_ < size_ - 1) out.push_back(point + 1);
    if (point >= size_) out.push_back(point - size_);
    if (point < size_ * (size_ - 1)) out.push_back(point + size_);
    return out;
  }
  // The group at `point`; empty where it has a liberty.
  std::set<int> choked(const std::string& cells, int point) const {
    std::set<int> group = {point};
    std::vector<int> open = {point};
    while (!open.empty()) {
      const int stone = open.back();
      open.pop_back();
      for (const int next : beside(stone)) {
        if (cells[static_cast<size_t>(next)] == '.') return {};
        if (cells[static_cast<size_t>(next)] == cells[static_cast<size_t>(point)] && group.insert(next).second)
          open.push_back(next);
      }
    }
    return group;
  }
  bool put(std::string& cells, char player, int point) const {
    cells[static_cast<size_t>(point)] = player;
    for (const int next : beside(point))
      if (cells[static_cast<size_t>(next)] != '.' && cells[static_cast<size_t>(next)] != player)
        for (const int stone : choked(cells, next)) cells[static_cast<size_t>(stone)] = '.';
    return choked(cells, point).empty();
  }

  int size_;
  Ko ko_;
  std::string cells_, before_last_;
  bool took_one_ = false;
  std::set<std::string> seen_;
};

std::string cells_of(const Board& board) {
  std::string cells;
  for (const char c : picture_of(board))
    if (c != ' ' && c != '\n') cells += c;
  return cells;
}

struct Case {
  int size;
  Ko ko;
  Eyes eyes;
};
class RandomGames : public testing::TestWithParam<Case> {};

TEST_P(RandomGames, MatchANaiveRuleImplementation) {
  const auto [size, ko, eyes] = GetParam();
  int refused_by_ko = 0;
  for (uint32_t number = 0; number < 12; ++number) {
    Game game(size, {.ko = ko, .max_moves = 3 * size * size});
    SlowGame slow(size, ko);
    RandomWords words(number, "test/go", static_cast<uint32_t>(size));
    while (!game.over()) {
      const Color player = game.to_play();
      const char letter = player == Color::black ? 'X' : 'O';
      for (Move move = 0; move < size * size; ++move) {
        ASSERT_EQ(game.legal(move), slow.legal(letter, move)) << picture_of(game.board()) << gtp_text(move, size);
        refused_by_ko += game.legality(move) == Legality::ko || game.legality(move) == Legality::superko;
      }
      const Move move = random_move(game, eyes, words);
      const uint64_t promised = game.board().hash_after(player, move);
      game.play(move);
      slow.play(letter, move);
      ASSERT_EQ(game.board().hash(), promised);
      ASSERT_EQ(cells_of(game.board()), slow.cells());
    }
  }
  EXPECT_GT(refused_by_ko, 0);  // the games asked about it
}
INSTANTIATE_TEST_SUITE_P(Sizes, RandomGames,
                         testing::Values(Case{3, Ko::simple, Eyes::fill}, Case{3, Ko::positional_superko, Eyes::fill},
                                         Case{5, Ko::positional_superko, Eyes::fill}, Case{5, Ko::simple, Eyes::spare},
                                         Case{9, Ko::positional_superko, Eyes::spare}));

// Random games on a small board until a move is refused by superko alone.
TEST(GoGame, SuperkoForbidsWhatSimpleKoAllows) {
  int found = 0;
  for (uint32_t number = 0; number < 50; ++number) {
    Game strict(4, {.ko = Ko::positional_superko, .max_moves = 100}), simple(4, {.max_moves = 100});
    RandomWords words(number, "test/superko");
    while (!strict.over()) {
      for (Move move = 0; move < 16; ++move)
        if (strict.legality(move) == Legality::superko) {
          ++found;
          EXPECT_EQ(simple.legality(move), Legality::legal);
        }
      const Move move = random_move(strict, Eyes::fill, words);
      simple.play(move);
      strict.play(move);
    }
  }
  EXPECT_GT(found, 10);
}

TEST(GoGame, CopyHasAnIndependentHistory) {
  for (const Ko ko : {Ko::simple, Ko::positional_superko}) {
    Game game(5, {.ko = ko});
    for (const Move move : {0, 1, 2}) game.play(move);
    Game copy = game;
    copy.play(7);
    EXPECT_EQ(game.moves(), 3);
    EXPECT_EQ(game.stones(0), copy.stones(1));
    EXPECT_TRUE(game.legal(7));
    EXPECT_FALSE(copy.legal(7));
  }
}

TEST(GoGame, EndsAfterTwoPassesOrAtItsLimit) {
  Game game(3);
  game.play(game.board().pass());
  game.play(0);
  game.play(game.board().pass());
  EXPECT_FALSE(game.over());
  game.play(game.board().pass());
  EXPECT_TRUE(game.over());
  Game limited(3, {.max_moves = 2});
  limited.play(0);
  EXPECT_FALSE(limited.over());
  limited.play(1);
  EXPECT_TRUE(limited.over());
  EXPECT_EQ(minigo_rules(9).max_moves, 162);
  EXPECT_EQ(minigo_rules(9).komi_half_points, 15);
}

TEST(GoGame, RemembersEightPositions) {
  Game game(5);
  EXPECT_EQ(game.stones(3), Stones{});
  std::vector<Stones> all = {game.board().stones()};
  for (Move move = 0; move < 12; ++move) {
    game.play(move);
    all.push_back(game.board().stones());
    for (int ago = 0; ago < Game::kHistory; ++ago)
      EXPECT_EQ(game.stones(ago), all[static_cast<size_t>(std::max(0, move + 1 - ago))]) << move << " " << ago;
  }
}

TEST(GoScore, CountsStonesAndWhatOneColourReaches) {
  const Area split = area(board_of({". X O .", "X X O .", ". X O O", ". X . O"}));
  EXPECT_EQ(split.black, 5 + 3);
  EXPECT_EQ(split.white, 5 + 2);  // C1 reaches both
  EXPECT_EQ(half_points(split, 15), 2 * 1 - 15);
  EXPECT_EQ(area(Board(9)).black, 0);
  EXPECT_EQ(result_text(7), "B+3.5");
  EXPECT_EQ(result_text(-2), "W+1");
  EXPECT_EQ(result_text(0), "0");
}

TEST(RandomMove, IsDrawnFromAllLegalMoves) {
  const Game game(board_of({". X .", "X X X", ". X ."}), {});
  RandomWords words(1, "test/go");
  std::set<Move> drawn;
  for (int i = 0; i < 100; ++i) drawn.insert(random_move(game, Eyes::fill, words));
  EXPECT_EQ(drawn, (std::set<Move>{0, 2, 6, 8}));
  EXPECT_EQ(random_move(game, Eyes::spare, words), game.board().pass());
}

}  // namespace
}  // namespace tbd::go
