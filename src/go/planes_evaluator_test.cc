#include "go/planes_evaluator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "go/random_player.h"
#include "go/symmetry.h"

namespace tbd::go {
namespace {

// Logits: 3 on own stones, 2 on those of the other, 1 for the pass. Values by who is to play.
void forward(std::span<const float> x, std::span<float> logits, std::span<float> values) {
  const size_t rows = values.size();
  for (size_t row = 0; row < rows; ++row) {
    const auto planes = x.subspan(row * 17 * 25, 17 * 25);
    const auto out = logits.subspan(row * 26, 26);
    for (size_t point = 0; point < 25; ++point) out[point] = 3 * planes[point] + 2 * planes[25 + point];
    out[25] = 1;
    values[row] = planes[16 * 25] == 1 ? 0.5f : -0.25f;
  }
}

Game some_game(uint32_t number) {
  Game game(5, {});
  RandomWords words(9, "test/planes_evaluator", 0, number);
  for (uint32_t i = 0; i < number; ++i) game.play(random_move(game, Eyes::spare, words));
  return game;
}

TEST(PlanesEvaluator, TurnsPoliciesBackFromEverySymmetry) {
  PlanesEvaluator network(forward);
  std::vector<Game> games;
  for (uint32_t i = 0; i < 8; ++i) games.push_back(some_game(10 + i));
  std::vector<Question> plain, turned;
  for (int i = 0; i < 8; ++i) {
    plain.push_back({&games[static_cast<size_t>(i)], 0});
    turned.push_back({&games[static_cast<size_t>(i)], i});
  }
  std::vector<float> priors(8 * 26), values(8), turned_priors(8 * 26), turned_values(8);
  network.evaluate(plain, priors, values);
  network.evaluate(turned, turned_priors, turned_values);
  EXPECT_EQ(priors, turned_priors);
  EXPECT_EQ(values, turned_values);
  for (size_t i = 0; i < 8; ++i) {
    const auto own = std::span(priors).subspan(26 * i, 26);
    EXPECT_NEAR(std::accumulate(own.begin(), own.end(), 0.), 1, 1e-6);
    const Game& game = games[i];
    for (int point = 0; point < 25; ++point) {
      const Color color = game.board().at(point);
      const double logit = color == game.to_play() ? 3 : color == Color::none ? 0 : 2;
      EXPECT_NEAR(own[static_cast<size_t>(point)] / own[25], std::exp(logit - 1), 1e-5);
    }
    EXPECT_EQ(values[i], game.to_play() == Color::black ? 0.5f : -0.25f);
  }
}

TEST(PlanesEvaluator, ShowsThePositionUnderItsSymmetry) {
  const Game game = some_game(12);
  std::vector<float> seen;
  PlanesEvaluator network([&](std::span<const float> x, std::span<float> logits, std::span<float> values) {
    seen.assign(x.begin(), x.end());
    forward(x, logits, values);
  });
  std::vector<float> priors(26), values(1), planes(17 * 25);
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    network.evaluate(std::vector<Question>{{&game, symmetry}}, priors, values);
    for (int point = 0; point < 25; ++point)
      EXPECT_EQ(seen[static_cast<size_t>(moved(point, 5, symmetry))] == 1, game.board().at(point) == game.to_play());
  }
}

TEST(PlanesEvaluator, FillsTheNetworksBatch) {
  const Game game = some_game(6);
  size_t rows = 0;
  PlanesEvaluator network(
      [&](std::span<const float> x, std::span<float> logits, std::span<float> values) {
        rows = values.size();
        EXPECT_EQ(x.size(), rows * 17 * 25);
        EXPECT_EQ(logits.size(), rows * 26);
        EXPECT_EQ(std::accumulate(x.begin() + 17 * 25, x.end(), 0.f), 0);
        forward(x, logits, values);
      },
      4);
  std::vector<float> priors(5 * 26), values(5);
  network.evaluate(std::vector<Question>{{&game, 3}}, std::span(priors).first(26), std::span(values).first(1));
  EXPECT_EQ(rows, 4u);
  EXPECT_THROW(network.evaluate(std::vector<Question>(5, {&game, 0}), priors, values), Error);
  EXPECT_THROW(PlanesEvaluator(forward, -1), Error);
}

}  // namespace
}  // namespace tbd::go
