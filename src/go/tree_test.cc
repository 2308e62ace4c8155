#include "go/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"

namespace tbd::go {
namespace {

constexpr TreeOptions kPlain = {.first_play_penalty = 0, .double_pass_first = false};

// Priors in proportion to 1 for the first legal move, 2 for the second, ...; a value.
void expand_evenly(Tree& tree, Tree::Node node, const Game& game, float value) {
  std::vector<float> priors(static_cast<size_t>(game.board().points()) + 1);
  std::iota(priors.begin(), priors.end(), 1.f);
  ASSERT_TRUE(tree.expand(node, game, priors, value));
}

TEST(Tree, NormalizesPriorsOverLegalMovesAlone) {
  Game game(2);
  game.play(0);
  Tree tree(game, kPlain);
  expand_evenly(tree, Tree::kRoot, game, 0.5f);
  EXPECT_THAT(tree.moves(), testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(tree.priors(), testing::ElementsAre(2.f / 14, 3.f / 14, 4.f / 14, 5.f / 14));
  Tree without(game, kPlain);
  EXPECT_TRUE(without.expand(Tree::kRoot, game, std::vector<float>(5), 0));
  EXPECT_THAT(without.priors(), testing::Each(0.25f));
}

TEST(Tree, UnvisitedMovesStartBelowTheirPositionForItsPlayer) {
  Game game(3);
  Tree black(game, {.first_play_penalty = 0.25});
  expand_evenly(black, Tree::kRoot, game, 0.5f);
  EXPECT_THAT(black.move_values(), testing::Each(0.25));
  game.play(4);
  Tree white(game, {.first_play_penalty = 0.75});
  expand_evenly(white, Tree::kRoot, game, 0.5f);
  EXPECT_THAT(white.move_values(), testing::Each(1));  // not beyond
}

TEST(Tree, SelectsByTheFormulaAndTheFirstOfEquals) {
  const Game start(3);
  Tree tree(start, kPlain);
  EXPECT_TRUE(tree.expand(Tree::kRoot, start, std::vector<float>(10, 1), 0.5f));
  const double factor = 2 * (std::log((1. + 1 + 19652) / 19652) + 1.25);
  for (const double score : tree.scores()) EXPECT_NEAR(score, 0.5 + factor * 0.1, 1e-8);
  Game game = start;
  const Tree::Node first = tree.descend(game);
  EXPECT_EQ(game.board().at(0), Color::black);
  EXPECT_EQ(tree.depth(first), 1);
  EXPECT_TRUE(tree.expand(first, game, std::vector<float>(10, 1), -0.25f));
  EXPECT_EQ(tree.visits(), 2);
  EXPECT_EQ(tree.value_sum(), 0.25);
  EXPECT_NEAR(tree.scores()[0], (0.5 - 0.25) / 2 + 2 * (std::log((1. + 2 + 19652) / 19652) + 1.25) * 0.1 / 2, 1e-8);
  Game other = start;
  tree.descend(other);
  EXPECT_EQ(other.board().at(1), Color::black);
}

TEST(Tree, AVirtualLossHasTheSignOfItsOwnPlayer) {
  const Game start(3);
  Tree tree(start, kPlain);
  expand_evenly(tree, Tree::kRoot, start, 0);
  Game game = start;
  const Tree::Node black_moved = tree.descend(game);
  EXPECT_EQ(game.board().pass(), tree.moves().back());  // the largest prior is the pass's
  expand_evenly(tree, black_moved, game, 0);
  for (size_t i = 0; i + 1 < tree.moves().size(); ++i) tree.set_root_prior(i, 0);
  const Tree::Node white_moved = tree.descend(game);
  ASSERT_EQ(tree.depth(white_moved), 2);
  tree.add_virtual_loss(white_moved);
  EXPECT_EQ(tree.value_sum(white_moved), 1);   // Black's turn: a loss of White's
  EXPECT_EQ(tree.value_sum(black_moved), -1);  // White's turn: a loss of Black's
  EXPECT_EQ(tree.value_sum(), 1);
  EXPECT_EQ(tree.visits(), 2);
  tree.remove_virtual_loss(white_moved);
  EXPECT_EQ(tree.value_sum(white_moved), 0);
  EXPECT_EQ(tree.value_sum(black_moved), 0);
}

TEST(Tree, TriesAnUnvisitedPassFirstAfterAPass) {
  Game game(3);
  game.play(Color::white, game.board().pass());
  for (const bool first : {false, true}) {
    Tree tree(game, {.first_play_penalty = 0, .double_pass_first = first});
    EXPECT_TRUE(tree.expand(Tree::kRoot, game, std::vector<float>(10, 1), 0));
    Game end = game;
    const Tree::Node node = tree.descend(end);
    EXPECT_EQ(tree.over(node), first);
    if (!first) continue;
    tree.visit_end(node);
    EXPECT_EQ(tree.value_sum(), -1);  // White's by komi alone
    EXPECT_FALSE(tree.over(tree.descend(end)));
  }
}

TEST(Tree, RefusesWhatCannotBeSearched) {
  Game game(3);
  Tree tree(game, kPlain);
  EXPECT_THROW(tree.expand(Tree::kRoot, game, std::vector<float>(10, 1), 1.5f), Error);
  EXPECT_THROW(tree.expand(Tree::kRoot, game, std::vector<float>(10, 1), NAN), Error);
  EXPECT_THROW(tree.expand(Tree::kRoot, game, std::vector<float>(10, -1), 0), Error);
  EXPECT_THROW(tree.expand(Tree::kRoot, game, std::vector<float>(10, NAN), 0), Error);
  tree.advance(game.board().pass());
  EXPECT_THROW(tree.advance(game.board().pass()), Error);
  game.play(9);
  game.play(9);
  EXPECT_THROW(Tree(game, kPlain), Error);
}

}  // namespace
}  // namespace tbd::go
