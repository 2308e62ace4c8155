#include "go/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "go/testing_networks.h"

namespace tbd::go {
namespace {
using testing_networks::HashNetwork;

constexpr TreeOptions kBare = {.first_play_penalty = 0, .double_pass_first = false};

Move busiest(const Tree& tree) {
  return tree.moves()[static_cast<size_t>(std::ranges::max_element(tree.move_visits()) - tree.move_visits().begin())];
}

double network_value(const Game& game) {
  return static_cast<double>(testing_networks::hash_value(testing_networks::position_hash(game)));
}

// What must be true of a node and all below it. With the test network all sums are exact: the value of a node is its
// own and those of its moves, and nothing of a virtual loss is left.
void check_node(const Tree& tree, Tree::Node node, const Game& game) {
  const auto visits = tree.move_visits(node);
  const auto values = tree.move_values(node);
  if (tree.over(node)) {
    ASSERT_TRUE(game.over());
    ASSERT_TRUE(visits.empty());
    return;
  }
  ASSERT_EQ(std::accumulate(visits.begin(), visits.end(), 0), tree.visits(node) - 1);
  size_t next = 0;
  for (Move move = 0; move <= game.board().pass(); ++move) {
    if (!game.legal(move)) continue;
    ASSERT_EQ(tree.moves(node)[next++], move);
  }
  ASSERT_EQ(next, visits.size());
  const auto priors = tree.priors(node);
  ASSERT_NEAR(std::accumulate(priors.begin(), priors.end(), 0.), 1, 1e-5);
  for (size_t i = 0; i < visits.size(); ++i) {
    ASSERT_LE(std::abs(values[i]), 1 + visits[i]);
    if (visits[i] == 0) {
      ASSERT_EQ(values[i], network_value(game));
      continue;
    }
    Game after = game;
    after.play(tree.moves(node)[i]);
    const Tree::Node child = tree.children(node)[i];
    double sum = 0;  // of what was backed up through the child
    if (tree.over(child)) {
      sum = visits[i] * (after.score() > 0 ? 1 : -1);
    } else {
      sum = network_value(after);
      for (const double value : tree.move_values(child)) sum += value - network_value(after);
    }
    ASSERT_EQ(values[i], network_value(game) + sum);
    check_node(tree, child, after);
  }
}

struct Shape {
  int size, readouts, leaves;
};
class TreeInvariants : public testing::TestWithParam<Shape> {};

// A game searched move by move, most of it by chance; the tree is kept all along.
TEST_P(TreeInvariants, HoldAfterEveryBatchOfAGame) {
  const auto [size, readouts, leaves] = GetParam();
  RandomWords words(7, "test/tree");
  HashNetwork network;
  Search search(Game(size, minigo_rules(size)), {.readouts = readouts, .leaves = leaves, .tree = kBare});
  std::vector<float> priors, values;
  for (int number = 0; number < 2 * size * size; ++number) {
    for (auto asked = search.ask(); !asked.empty(); asked = search.ask()) {
      priors.resize(asked.size() * static_cast<size_t>(size * size + 1));
      values.resize(asked.size());
      network.evaluate(asked, priors, values);
      search.receive(priors, values);
      ASSERT_NO_FATAL_FAILURE(check_node(search.tree(), Tree::kRoot, search.game()));
    }
    const Move move = number % 3 == 0 ? random_move(search.game(), Eyes::fill, words) : busiest(search.tree());
    Game next = search.game();
    next.play(move);
    if (next.over()) break;
    search.play(move);
  }
  EXPECT_GT(search.game().moves(), size);
}
INSTANTIATE_TEST_SUITE_P(Shapes, TreeInvariants,
                         testing::Values(Shape{3, 20, 1}, Shape{5, 30, 1}, Shape{5, 30, 8}, Shape{7, 40, 3},
                                         Shape{9, 60, 16}),
                         [](const auto& shape) {
                           return cat(shape.param.size, "x", shape.param.size, "_leaves", shape.param.leaves);
                         });

TEST(Search, KeepsWhatLiesBehindAMoveAndForgetsTheRest) {
  HashNetwork network;
  Search search(Game(5, minigo_rules(5)), {.readouts = 300, .leaves = 4});
  finish_search(search, network);
  const Tree before = search.tree();
  const Move move = busiest(before);
  const auto index = static_cast<size_t>(std::ranges::find(before.moves(), move) - before.moves().begin());
  const Tree::Node child = before.children()[index];
  search.play(move);
  EXPECT_EQ(search.tree().visits(), before.move_visits()[index]);
  EXPECT_EQ(search.tree().value_sum(), before.move_values()[index]);
  EXPECT_THAT(search.tree().move_visits(), testing::ElementsAreArray(before.move_visits(child)));
  EXPECT_THAT(search.tree().priors(), testing::ElementsAreArray(before.priors(child)));
  EXPECT_LE(search.tree().node_count(), static_cast<size_t>(search.tree().visits()) + 1);
  Tree unvisited = before;
  const auto none = static_cast<size_t>(std::ranges::find(before.move_visits(), 0) - before.move_visits().begin());
  ASSERT_LT(none, before.moves().size());
  unvisited.advance(before.moves()[none]);
  EXPECT_EQ(unvisited.visits(), 0);
  EXPECT_FALSE(unvisited.expanded(Tree::kRoot));
}

// What a search asks, one answer after the other: how many positions each time.
std::vector<size_t> batches_of(const SearchOptions& options, std::optional<Game> game = {}) {
  Search search(game.value_or(Game(5, minigo_rules(5))), options);
  HashNetwork network;
  finish_search(search, network);
  EXPECT_EQ(search.tree().visits(), 1 + options.readouts);
  return network.batches;
}

TEST(Search, AsksAboutTheRootAloneAndThenAboutSoManyLeaves) {
  EXPECT_THAT(batches_of({.readouts = 8, .leaves = 4}), testing::ElementsAre(1, 4, 4));
  EXPECT_THAT(batches_of({.readouts = 3, .leaves = 1}), testing::ElementsAre(1, 1, 1, 1));
}

TEST(Search, AnotherMoveAddsItsReadouts) {
  HashNetwork network;
  Search search(Game(5, minigo_rules(5)), {.readouts = 50, .leaves = 1});
  finish_search(search, network);
  finish_search(search, network);
  EXPECT_EQ(search.tree().visits(), 51);
  search.begin();
  finish_search(search, network);
  EXPECT_EQ(search.tree().visits(), 101);
  search.play(busiest(search.tree()));
  const int kept = search.tree().visits();
  finish_search(search, network);
  EXPECT_EQ(search.tree().visits(), kept + 50);
}

TEST(Search, SymmetriesAreDecidedByStonesAndKey) {
  std::vector<int> counts(8), other(8);
  const auto symmetries = [](uint64_t key, std::vector<int>& counts) {
    std::vector<int> all;
    Search search(Game(5, minigo_rules(5)), {.readouts = 400, .leaves = 3}, key);
    HashNetwork network;
    std::vector<float> priors, values;
    for (auto asked = search.ask(); !asked.empty(); asked = search.ask()) {
      for (const Question& question : asked) {
        all.push_back(question.symmetry);
        ++counts[static_cast<size_t>(question.symmetry)];
      }
      priors.resize(26 * asked.size());
      values.resize(asked.size());
      network.evaluate(asked, priors, values);
      search.receive(priors, values);
    }
    return all;
  };
  EXPECT_EQ(symmetries(1, counts), symmetries(1, other));
  EXPECT_NE(symmetries(1, counts), symmetries(2, other));
  for (const int count : counts) EXPECT_NEAR(count, 100, 40);
}

TEST(Search, RefusesWhatItCannotDo) {
  EXPECT_THROW(Search(Game(3), {.readouts = 0}), Error);
  EXPECT_THROW(Search(Game(3), {.leaves = 0}), Error);
  Search search(Game(3), {});
  ASSERT_EQ(search.ask().size(), 1u);
  EXPECT_THROW(search.receive(std::vector<float>(20), std::vector<float>(2)), Error);
}

}  // namespace
}  // namespace tbd::go
