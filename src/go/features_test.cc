#include "go/features.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "go/random_player.h"
#include "go/symmetry.h"

namespace tbd::go {
namespace {

std::vector<float> planes_of(const Game& game, int symmetry = 0) {
  std::vector<float> x(static_cast<size_t>(kPlanes * game.board().points()), -1.f);
  write_planes(game, symmetry, x);
  return x;
}
// The points of plane k.
std::vector<int> plane(const std::vector<float>& x, int k, int points) {
  std::vector<int> out;
  for (int i = 0; i < points; ++i)
    if (x[static_cast<size_t>(k * points + i)] == 1) out.push_back(i);
  return out;
}

TEST(GoFeatures, ShowStonesOfThePlayerToPlayFirst) {
  Game game(3);
  game.play(0);                                  // Black
  game.play(4);                                  // White
  game.play(8);                                  // Black
  const std::vector<float> x = planes_of(game);  // White to play
  EXPECT_EQ(plane(x, 0, 9), (std::vector<int>{4}));
  EXPECT_EQ(plane(x, 1, 9), (std::vector<int>{0, 8}));
  EXPECT_EQ(plane(x, 2, 9), (std::vector<int>{4}));  // one move ago
  EXPECT_EQ(plane(x, 3, 9), (std::vector<int>{0}));
  EXPECT_EQ(plane(x, 4, 9), (std::vector<int>{}));
  EXPECT_EQ(plane(x, 5, 9), (std::vector<int>{0}));
  for (int k = 6; k < 16; ++k) EXPECT_TRUE(plane(x, k, 9).empty()) << k;  // the empty board, repeated
  EXPECT_TRUE(plane(x, 16, 9).empty());
  game.play(9);
  EXPECT_EQ(plane(planes_of(game), 16, 9).size(), 9u);  // Black to play
}

TEST(GoFeatures, RepeatTheOldestPosition) {
  std::vector<Color> cells(9, Color::none);
  cells[2] = Color::black;
  Game game(Board(3, cells), {});
  game.play(0);
  const std::vector<float> x = planes_of(game);
  EXPECT_EQ(plane(x, 1, 9), (std::vector<int>{0, 2}));
  for (int k = 1; k < 8; ++k) EXPECT_EQ(plane(x, 2 * k + 1, 9), (std::vector<int>{2})) << k;
}

TEST(GoFeatures, UnderASymmetryAreTheTransformedOnes) {
  Game game(9);
  RandomWords words(3, "test/features");
  for (int i = 0; i < 40; ++i) game.play(random_move(game, Eyes::spare, words));
  const std::vector<float> x = planes_of(game);
  std::vector<float> pi(82), turned(82), expected(82);
  write_policy(17, 9, 0, pi);
  EXPECT_EQ(pi[17], 1);
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    std::vector<float> image(x.size());
    transform_planes(x, 9, symmetry, image);
    EXPECT_EQ(planes_of(game, symmetry), image) << symmetry;
    transform_policy(pi, 9, symmetry, expected);
    write_policy(17, 9, symmetry, turned);
    EXPECT_EQ(turned, expected) << symmetry;
  }
  write_policy(81, 9, 5, turned);
  EXPECT_EQ(turned[81], 1);
}

TEST(GoFeatures, ValueIsFromBlacksPerspective) {
  EXPECT_EQ(value_of(Color::black), 1.f);
  EXPECT_EQ(value_of(Color::white), -1.f);
}

TEST(GoFeatures, RefuseOtherExtents) {
  std::vector<float> x(17 * 25 + 1);
  EXPECT_THROW(write_planes(Game(5), 0, x), Error);
  EXPECT_THROW(write_policy(3, 5, 0, x), Error);
}

}  // namespace
}  // namespace tbd::go
