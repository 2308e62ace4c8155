#include "go/search_choice.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "base/error.h"

namespace tbd::go {
namespace {

constexpr double kVisitPower = 0.98;

std::vector<double> weights(const Tree& tree, double power) {
  std::vector<double> all;
  for (const int32_t visits : tree.move_visits()) all.push_back(std::pow(visits, power));
  return all;
}

double sum(std::span<const double> values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

}  // namespace

int drawn_moves(int size) { return size * size / 12 / 2 * 2; }

Move most_visited(const Tree& tree) {
  const auto visits = tree.move_visits();
  const std::vector<double> scores = tree.scores();
  require(!scores.empty(), "a move is chosen after a search");
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i)
    if (std::tie(visits[i], scores[i]) > std::tie(visits[best], scores[best])) best = i;
  return tree.moves()[best];
}

// A network that wins everywhere has no reason to end the game, and may fill its own eyes until it loses.
Move winning_pass_or_most_visited(const Tree& tree) {
  const Game& game = tree.game();
  const int score = game.to_play() == Color::black ? game.score() : -game.score();
  return game.passes() > 0 && score > 0 ? game.board().pass() : most_visited(tree);
}

Move drawn_move(const Tree& tree, double uniform) {
  std::vector<double> points = weights(tree, kVisitPower);
  require(!points.empty(), "a move is drawn after a search");
  points.pop_back();
  double left = uniform * sum(points);
  std::optional<size_t> found;
  for (size_t i = 0; i < points.size() && left >= 0; ++i) {
    if (points[i] == 0) continue;
    found = i;
    left -= points[i];
  }
  return found ? tree.moves()[*found] : tree.game().board().pass();
}

void write_search_policy(const Tree& tree, bool drawn, std::span<float> pi) {
  const std::vector<double> all = weights(tree, drawn ? kVisitPower : 1);
  const double total = sum(all);
  require(total > 0, "a policy is learned from a search that visited a move");
  std::ranges::fill(pi, 0.f);
  for (size_t i = 0; i < all.size(); ++i) pi[tree.moves()[i]] = static_cast<float>(all[i] / total);
}

double value_for_player(const Tree& tree) {
  return tree.game().to_play() == Color::black ? tree.mean_value() : -tree.mean_value();
}

}  // namespace tbd::go
