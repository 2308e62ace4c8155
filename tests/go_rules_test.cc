// Our rules of Go and GNU Go's (a separate program, by GTP), game by game of random moves, in every other game mostly
// such as take stones: at every position both know the same legal moves of both players, by all_legal; at the end both
// have the same stones (list_stones) and the same score: GNU Go's final_score, under area scoring with komi 7.5. Games
// end where no move is left that does not fill an eye of one's own, so that no stone is dead; games that fill eyes, and
// those that stop before, are compared without score. GNU Go is told to forbid suicide and to keep simple ko, or
// positional superko. Its memory holds 500 moves (it forgets the first 51 then), so games with superko stop at 490.
// TBD_GO_GAMES=N plays N times as many games.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include "base/error.h"
#include "go/gtp.h"
#include "go/random_player.h"

namespace tbd::go {
namespace {

constexpr int kRemembered = 490;  // moves of a game that GNU Go's superko looks at

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::set<std::string> our_legal(const Game& game, Color player) {
  std::set<std::string> moves;
  for (Move move = 0; move < game.board().points(); ++move)
    if (game.legality(player, move) == Legality::legal) moves.insert(gtp_text(move, game.board().size()));
  return moves;
}

std::set<std::string> our_stones(const Board& board, Color player) {
  std::set<std::string> stones;
  for (int point = 0; point < board.points(); ++point)
    if (board.at(point) == player) stones.insert(gtp_text(point, board.size()));
  return stones;
}

// A move that takes stones, where there is one, so that kos are fought.
Move fighting_move(const Game& game, Eyes eyes, RandomWords& words) {
  std::vector<Move> taking;
  for (Move move = 0; move < game.board().points(); ++move)
    if (game.legal(move) && Board(game.board()).play(game.to_play(), move) > 0) taking.push_back(move);
  if (taking.empty()) return random_move(game, eyes, words);
  return taking[static_cast<size_t>(words.below(static_cast<int>(taking.size())))];
}

const char* letter(Color player) { return player == Color::black ? "black" : "white"; }

struct Case {
  int size;
  Ko ko;
  Eyes eyes;
  uint32_t games;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.size << "x" << c.size << (c.ko == Ko::simple ? ", simple ko" : ", superko");
}

class AgainstGnuGo : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    try {
      gnugo_ = std::make_unique<GtpEngine>(gnugo("gnugo", GetParam().ko, {"--level", "1", "--seed", "1"}), 60);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::not_found) throw;
      GTEST_SKIP() << "gnugo is not installed";
    }
    if (const char* times = std::getenv("TBD_GO_GAMES")) games_ = static_cast<uint32_t>(std::atoi(times));
    games_ *= GetParam().games;
  }

  void compare(const Game& game, const std::string& what) {
    for (const Color player : {Color::black, Color::white})
      ASSERT_EQ(our_legal(game, player), words_of(gnugo_->command(cat("all_legal ", letter(player)))))
          << what << ", " << letter(player) << " to play:\n"
          << gnugo_->command("showboard");
  }

  void play_game(uint32_t number) {
    const auto [size, ko, eyes, games] = GetParam();
    const int most = ko == Ko::simple ? 2 * size * size : kRemembered;
    Game game(size, {.ko = ko, .max_moves = most});
    RandomWords words(number, "test/go_rules", static_cast<uint32_t>(size));
    gnugo_->set_up(size, 7.5);
    while (!game.over()) {
      compare(game, cat("game ", number, ", move ", game.moves() + 1));
      if (HasFatalFailure()) return;
      const bool fights = number % 2 == 1 && words.below(3) > 0;
      const Move move = fights ? fighting_move(game, eyes, words) : random_move(game, eyes, words);
      refused_ += refused(game);
      gnugo_->play(game.to_play(), move);
      game.play(move);
      ++positions_;
    }
    compare_end(game, number);
  }

  // Moves of the player to play that the rule in question alone forbids.
  static int refused(const Game& game) {
    const Legality rule = game.rules().ko == Ko::simple ? Legality::ko : Legality::superko;
    int count = 0;
    for (Move move = 0; move < game.board().points(); ++move) count += game.legality(move) == rule;
    return count;
  }

  void compare_end(const Game& game, uint32_t number) {
    for (const Color player : {Color::black, Color::white})
      ASSERT_EQ(our_stones(game.board(), player), words_of(gnugo_->command(cat("list_stones ", letter(player)))))
          << "game " << number;
    if (GetParam().eyes == Eyes::fill || game.moves() == game.rules().max_moves) return;
    ++scored_;
    EXPECT_EQ(gnugo_->command("final_score"), result_text(game.score())) << "game " << number << ":\n"
                                                                         << gnugo_->command("showboard");
  }

  std::unique_ptr<GtpEngine> gnugo_;
  uint32_t games_ = 1;
  int positions_ = 0, refused_ = 0, scored_ = 0;
};

TEST_P(AgainstGnuGo, LegalMovesAndScoresMatch) {
  for (uint32_t number = 0; number < games_ && !HasFatalFailure(); ++number) play_game(number);
  EXPECT_GT(refused_, 0);  // the games asked about this ko rule
  EXPECT_TRUE(scored_ > 0 || GetParam().eyes == Eyes::fill);
  RecordProperty("positions", positions_);
  RecordProperty("refused_by_the_ko_rule", refused_);
  RecordProperty("scores", scored_);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, AgainstGnuGo,
    testing::Values(Case{5, Ko::simple, Eyes::spare, 200}, Case{5, Ko::positional_superko, Eyes::fill, 40},
                    Case{7, Ko::positional_superko, Eyes::spare, 100}, Case{9, Ko::simple, Eyes::fill, 20},
                    Case{9, Ko::positional_superko, Eyes::spare, 80}, Case{13, Ko::positional_superko, Eyes::spare, 40},
                    Case{19, Ko::simple, Eyes::spare, 10}, Case{19, Ko::positional_superko, Eyes::spare, 16}));

}  // namespace
}  // namespace tbd::go
