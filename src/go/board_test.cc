#include "go/board.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "go/testing_boards.h"

namespace tbd::go {
namespace {
using testing_boards::board_of;
using testing_boards::picture_of;

Move point_at(const Board& board, const char* text) { return move_from_gtp(text, board.size()).value(); }

TEST(GoBoard, TakesAGroupWithoutLiberties) {
  Board board = board_of({". O .", "O X X", ". O O"});
  EXPECT_EQ(board.liberties(point_at(board, "B2")), 1);
  EXPECT_EQ(board.play(Color::white, point_at(board, "C3")), 2);
  EXPECT_EQ(picture_of(board), ". O O\nO . .\n. O O\n");
  EXPECT_EQ(board.liberties(point_at(board, "A2")), 3);
  EXPECT_EQ(board.hash(), board_of({". O O", "O . .", ". O O"}).hash());
  EXPECT_EQ(board.stones(), board_of({". O O", "O . .", ". O O"}).stones());
}

TEST(GoBoard, RefusesSuicideOfOneAndOfMany) {
  const Board one = board_of({". O .", "O . .", ". . ."});
  EXPECT_EQ(one.legality(Color::black, point_at(one, "A3")), Legality::suicide);
  EXPECT_EQ(one.legality(Color::white, point_at(one, "A3")), Legality::legal);
  const Board many = board_of({"X . O", "X O .", "O . ."});
  EXPECT_EQ(many.legality(Color::black, point_at(many, "B3")), Legality::suicide);
  EXPECT_EQ(many.legality(Color::white, point_at(many, "B3")), Legality::legal);  // takes two
}

TEST(GoBoard, AllowsACaptureThatFillsTheLastLiberty) {
  Board board = board_of({". X O .", "X O . O", ". X O .", ". . . ."});
  EXPECT_EQ(board.legality(Color::black, point_at(board, "C3")), Legality::legal);
  EXPECT_EQ(board.play(Color::black, point_at(board, "C3")), 1);
}

TEST(GoBoard, ForbidsImmediateKoRecaptureByTheOpponentOnly) {
  Board board = board_of({". X O .", "X O . O", ". X O .", ". . . ."});
  board.play(Color::black, point_at(board, "C3"));
  const Move retake = point_at(board, "B3");
  EXPECT_EQ(board.legality(Color::white, retake), Legality::ko);
  EXPECT_EQ(board.legality(Color::black, retake), Legality::legal);  // fills the ko
  board.play(Color::white, point_at(board, "A1"));
  board.play(Color::black, point_at(board, "D1"));
  EXPECT_EQ(board.legality(Color::white, retake), Legality::legal);
}

TEST(GoBoard, AllowsRecaptureOfTwoStones) {
  Board board = board_of({"X X O .", ". O . .", "O . . .", ". . . ."});
  EXPECT_EQ(board.play(Color::white, point_at(board, "A3")), 2);
  EXPECT_EQ(board.legality(Color::black, point_at(board, "A4")), Legality::legal);
}

TEST(GoBoard, NamesWhyAMoveIsIllegal) {
  const Board board = board_of({"X .", ". ."});
  EXPECT_EQ(board.legality(Color::white, 0), Legality::occupied);
  EXPECT_EQ(board.legality(Color::white, -1), Legality::off_board);
  EXPECT_EQ(board.legality(Color::white, 5), Legality::off_board);
  EXPECT_EQ(board.legality(Color::white, board.pass()), Legality::legal);
  EXPECT_EQ(reason(Legality::superko), "it repeats an earlier position (superko)");
}

TEST(GoBoard, RefusesSizesAndStonesThatCannotBe) {
  EXPECT_THROW(Board(1), Error);
  EXPECT_THROW(Board(20), Error);
  EXPECT_THROW(board_of({"X O", "O O"}), Error);
}

TEST(GoBoard, ListsEmptyPoints) {
  for (const int size : {2, 8, 9, 16, 19}) {
    Board board(size);
    board.play(Color::black, 1);
    board.play(Color::white, size * size - 2);
    std::vector<int> empty, expected;
    for_each(board.empty_points(), [&](int point) { empty.push_back(point); });
    for (int point = 0; point < size * size; ++point)
      if (board.at(point) == Color::none) expected.push_back(point);
    EXPECT_EQ(empty, expected) << size;
  }
}

TEST(GoBoard, KnowsEyes) {
  const Board board = board_of({". X . .", "X X . .", ". . X .", ". X . X"});
  EXPECT_TRUE(board.is_eye(Color::black, point_at(board, "A4")));
  EXPECT_FALSE(board.is_eye(Color::white, point_at(board, "A4")));
  EXPECT_FALSE(board.is_eye(Color::black, point_at(board, "C4")));
  const Board corner = board_of({". X .", "X X .", ". . ."});
  const auto middle = [](const std::string& right) {
    return board_of({". . . . .", ". O X . .", ". X . X .", ". . X " + right + " .", ". . . . ."});
  };
  EXPECT_FALSE(middle("O").is_eye(Color::black, 12));  // two of its diagonals are White's
  EXPECT_TRUE(middle(".").is_eye(Color::black, 12));
  EXPECT_FALSE(board_of({". X .", "X O .", ". . ."}).is_eye(Color::black, 0));
  EXPECT_TRUE(corner.is_eye(Color::black, 0));
}

TEST(GoPoint, HasTheTextsOfGtpAndSgf) {
  EXPECT_EQ(gtp_text(3 * 19 + 3, 19), "D16");
  EXPECT_EQ(move_from_gtp("d16", 19), 3 * 19 + 3);
  EXPECT_EQ(gtp_text(8, 9), "J9");
  EXPECT_EQ(move_from_gtp("J9", 9), 8);
  for (const char* wrong : {"I5", "K5", "A10", "A0", "A", "", "5A", "A5 "}) EXPECT_FALSE(move_from_gtp(wrong, 9));
  EXPECT_EQ(sgf_text(3 * 19 + 4, 19), "ed");
  EXPECT_EQ(move_from_sgf("ed", 19), 3 * 19 + 4);
  EXPECT_EQ(move_from_sgf("", 9), 81);
  EXPECT_EQ(move_from_sgf("tt", 19), 361);
  for (const char* wrong : {"ja", "aj", "a", "aaa", "AA", "t"}) EXPECT_FALSE(move_from_sgf(wrong, 9));
  for (int size = kMinSize; size <= kMaxSize; ++size)
    for (Move move = 0; move <= size * size; ++move) {
      ASSERT_EQ(move_from_gtp(gtp_text(move, size), size), move);
      ASSERT_EQ(move_from_sgf(sgf_text(move, size), size), move);
    }
}

}  // namespace
}  // namespace tbd::go
