#include "go/search_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "go/dirichlet.h"
#include "go/search.h"
#include "go/testing_networks.h"

namespace tbd::go {
namespace {

Search searched(int readouts) {
  Search search(Game(5, minigo_rules(5)), {.readouts = readouts, .leaves = 1});
  testing_networks::HashNetwork network;
  finish_search(search, network);
  return search;
}

TEST(SearchChoice, DrawsTheFirstMovesOfAGame) {
  EXPECT_EQ(drawn_moves(19), 30);
  EXPECT_EQ(drawn_moves(13), 14);
  EXPECT_EQ(drawn_moves(9), 6);
  EXPECT_EQ(drawn_moves(7), 4);
  EXPECT_EQ(drawn_moves(5), 2);
  EXPECT_EQ(drawn_moves(2), 0);
}

TEST(SearchChoice, DrawsPointsInProportionToTheirVisitsAndNoPass) {
  const Search search = searched(400);
  const Tree& tree = search.tree();
  const size_t points = tree.moves().size() - 1;
  double total = 0;
  for (size_t i = 0; i < points; ++i) total += std::pow(tree.move_visits()[i], 0.98);
  constexpr int kDraws = 100000;
  std::vector<int> drawn(tree.moves().size());
  for (int i = 0; i < kDraws; ++i) ++drawn[static_cast<size_t>(drawn_move(tree, (i + 0.5) / kDraws))];
  for (size_t i = 0; i < points; ++i)
    EXPECT_NEAR(drawn[i], kDraws * std::pow(tree.move_visits()[i], 0.98) / total, 1.5) << i;
  EXPECT_EQ(drawn[points], 0);
  EXPECT_LT(drawn_move(tree, std::nextafter(1., 0.)), 25);
}

TEST(SearchChoice, PassesWhereNoPointWasVisited) {
  Game game(5, minigo_rules(5));
  Tree tree(game, {});
  std::vector<float> priors(26);
  priors.back() = 1;
  ASSERT_TRUE(tree.expand(Tree::kRoot, game, priors, 0));
  ASSERT_TRUE(tree.expand(tree.descend(game), game, priors, 1));
  EXPECT_EQ(drawn_move(tree, 0.5), 25);
  EXPECT_EQ(most_visited(tree), 25);
}

TEST(SearchChoice, MostVisitedSettlesEqualsByScore) {
  Game start(5, minigo_rules(5)), game = start;
  Tree tree(start, {});
  std::vector<float> priors(26, 1);
  priors[7] = 3;
  ASSERT_TRUE(tree.expand(Tree::kRoot, start, priors, 0));
  EXPECT_EQ(most_visited(tree), 7);  // none is visited, its prior is the largest
  tree.set_root_prior(7, 1.f / 28);
  EXPECT_EQ(most_visited(tree), 0);  // all are equal
}

TEST(SearchChoice, PoliciesAreSharesOfVisits) {
  const Search search = searched(200);
  std::vector<float> late(26), early(26);
  write_search_policy(search.tree(), false, late);
  write_search_policy(search.tree(), true, early);
  EXPECT_NEAR(std::accumulate(early.begin(), early.end(), 0.), 1, 1e-6);
  double total = 0;
  for (const int visits : search.tree().move_visits()) total += std::pow(visits, 0.98);
  for (size_t i = 0; i < 26; ++i) {
    const double visits = search.tree().move_visits()[i];
    EXPECT_FLOAT_EQ(late[i], static_cast<float>(visits / 200));
    EXPECT_FLOAT_EQ(early[i], static_cast<float>(std::pow(visits, 0.98) / total));
  }
  Tree fresh(Game(5), {});
  EXPECT_THROW(write_search_policy(fresh, false, late), Error);
  EXPECT_THROW(most_visited(fresh), Error);
}

TEST(SearchChoice, ValueIsThatOfThePlayer) {
  Game game(5);
  for (const double sign : {1., -1.}) {
    Tree tree(game, {});
    ASSERT_TRUE(tree.expand(Tree::kRoot, game, std::vector<float>(26, 1), 0.5f));
    EXPECT_EQ(value_for_player(tree), sign * 0.25);  // W / (1 + N)
    game.play(3);
  }
}

TEST(RootNoise, MixesIntoThePriorsOfLegalMoves) {
  EXPECT_NEAR(noise_alpha(19), 0.03, 1e-12);
  EXPECT_NEAR(noise_alpha(9), 0.1337, 1e-4);
  EXPECT_NEAR(noise_alpha(5), 0.4332, 1e-4);
  const auto priors = [](std::optional<RootNoise> noise) {
    Search search(Game(5, minigo_rules(5)), {.readouts = 1, .leaves = 1});
    testing_networks::HashNetwork network;
    search.begin(std::move(noise));
    finish_search(search, network);
    const auto all = search.tree().priors();
    return std::vector<float>(all.begin(), all.end());
  };
  const std::vector<float> plain = priors({});
  RandomWords words(3, "test/noise");
  const std::vector<float> mixed = priors(RootNoise{.weight = 0.25, .alpha = 0.4, .words = words});
  const std::vector<double> drawn = dirichlet(0.4, 26, words);
  for (size_t i = 0; i < 26; ++i)
    EXPECT_FLOAT_EQ(mixed[i], static_cast<float>(0.75 * static_cast<double>(plain[i]) + 0.25 * drawn[i]));
}

TEST(SearchChoice, APassThatWinsNeedsNoVisits) {
  for (const double komi : {0.5, 25.5}) {
    Game game(5, minigo_rules(5, komi));
    game.play(12);
    game.play(game.board().pass());
    Tree tree(game, {.double_pass_first = false});
    std::vector<float> priors(26);
    priors[3] = 1;
    ASSERT_TRUE(tree.expand(Tree::kRoot, game, priors, 0.5f));
    EXPECT_EQ(most_visited(tree), 3);
    EXPECT_EQ(winning_pass_or_most_visited(tree), komi < 25 ? 25 : 3);
  }
}

}  // namespace
}  // namespace tbd::go
