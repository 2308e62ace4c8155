// Nodes and edges are numbers in arrays that only grow during a search. When a move is played, the part of the tree
// behind it is copied to the front of fresh arrays: no node is freed alone.
#include "go/tree.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd::go {
namespace {

// Values span [-1, 1], hence the factor of 2 (minigo since 5c7a79f).
constexpr double kExplorationFactor = 2, kExplorationBase = 19652, kExplorationStart = 1.25;

double player_sign(bool black) { return black ? 1 : -1; }

int sign_of(int number) { return (number > 0) - (number < 0); }

}  // namespace

Tree::Tree(const Game& root, const TreeOptions& options) : options_(options), game_(root) {
  require(!root.over(), "a game that is over leaves nothing to search");
  nodes_.push_back(node_of(game_));
  add_edge(0, 1, 0);
}

Tree::NodeData Tree::node_of(const Game& game) {
  NodeData node{.black = game.to_play() == Color::black, .over = game.over(), .after_pass = game.passes() > 0};
  if (node.over) node.result = static_cast<int8_t>(sign_of(game.score()));
  return node;
}

void Tree::add_edge(uint16_t move, float prior, double value) {
  values_.push_back(value);
  visits_.push_back(0);
  priors_.push_back(prior);
  children_.push_back(kRoot);
  moves_.push_back(move);
}

double Tree::exploration(Node node) const {
  const double visits = visits_[nodes_[node].edge];
  const double rate = std::log((1 + visits + kExplorationBase) / kExplorationBase) + kExplorationStart;
  return kExplorationFactor * rate * std::sqrt(std::max(1., visits - 1));
}

uint32_t Tree::best_edge(Node node) const {
  const NodeData& data = nodes_[node];
  const uint32_t pass = data.first + data.moves - 1;
  if (options_.double_pass_first && data.after_pass && visits_[pass] == 0) return pass;
  const double factor = exploration(node), sign = player_sign(data.black);
  double best = -HUGE_VAL;
  uint32_t found = data.first;
  for (uint32_t edge = data.first; edge <= pass; ++edge) {
    const double score = (sign * values_[edge] + factor * static_cast<double>(priors_[edge])) / (1 + visits_[edge]);
    if (score > best) {
      best = score;
      found = edge;
    }
  }
  return found;
}

std::vector<double> Tree::scores() const {
  std::vector<double> all;
  const double factor = exploration(kRoot), sign = player_sign(nodes_[kRoot].black);
  for (size_t i = 0; i < moves().size(); ++i)
    all.push_back((sign * move_values()[i] + factor * static_cast<double>(priors()[i])) / (1 + move_visits()[i]));
  return all;
}

Tree::Node Tree::child(Node parent, uint32_t edge, const Game& game) {
  if (children_[edge] != kRoot) return children_[edge];
  NodeData node = node_of(game);
  node.parent = parent;
  node.edge = edge;
  node.depth = static_cast<int16_t>(nodes_[parent].depth + 1);
  const auto number = static_cast<Node>(nodes_.size());
  nodes_.push_back(node);
  children_[edge] = number;
  return number;
}

Tree::Node Tree::descend(Game& game) {
  game = game_;
  Node node = kRoot;
  while (expanded(node)) {
    const uint32_t edge = best_edge(node);
    game.play(moves_[edge]);
    node = child(node, edge, game);
  }
  return node;
}

void Tree::back_up(Node node, double value) {
  while (true) {
    const NodeData& data = nodes_[node];
    ++visits_[data.edge];
    values_[data.edge] += value;
    if (node == kRoot) return;
    node = data.parent;
  }
}

// A node was chosen by the opponent of its player: a loss of theirs has the sign of the node's own player.
void Tree::change_values(Node node, double losses) {
  while (true) {
    const NodeData& data = nodes_[node];
    values_[data.edge] += losses * player_sign(data.black);
    if (node == kRoot) return;
    node = data.parent;
  }
}

bool Tree::expand(Node node, const Game& game, std::span<const float> priors, float value) {
  if (expanded(node)) return false;
  require(std::abs(value) <= 1, "a network's value is -1 to 1, got ", value);
  const auto first = static_cast<uint32_t>(moves_.size());
  const double start = std::clamp(value - options_.first_play_penalty * player_sign(nodes_[node].black), -1., 1.);
  double sum = 0;
  const auto add = [&](int move) {
    const float prior = priors[static_cast<size_t>(move)];
    require(prior >= 0 && prior < HUGE_VALF, "a network's prior is at least 0 and finite, got ", prior);
    sum += static_cast<double>(prior);
    add_edge(static_cast<uint16_t>(move), prior, start);
  };
  for_each(game.board().empty_points(), [&](int point) {
    if (game.legal(point)) add(point);
  });
  add(game.board().pass());
  const auto all = std::span(priors_).subspan(first);
  for (float& prior : all)
    prior = static_cast<float>(sum > 0 ? static_cast<double>(prior) / sum : 1. / static_cast<double>(all.size()));
  nodes_[node].first = first;
  nodes_[node].moves = static_cast<uint16_t>(all.size());
  back_up(node, static_cast<double>(value));
  return true;
}

void Tree::advance(Move move) {
  const auto all = moves();
  const auto found = std::ranges::lower_bound(all, move);
  const bool known = found != all.end() && *found == move;
  game_.play(move);
  require(!game_.over(), "the game is over and leaves nothing to search");
  const Node next = known ? children_[nodes_[kRoot].first + static_cast<size_t>(found - all.begin())] : kRoot;
  if (next == kRoot)
    *this = Tree(game_, options_);
  else
    keep_only(next);
}

// A node's edges are copied when its own turn comes, so that they lie side by side again.
void Tree::keep_only(Node root) {
  Tree kept(game_, options_);
  kept.values_[0] = values_[nodes_[root].edge];
  kept.visits_[0] = visits_[nodes_[root].edge];
  std::vector<Node> from = {root};  // by node of `kept`
  for (Node node = kRoot; node < from.size(); ++node) {
    const NodeData& data = nodes_[from[node]];
    const auto first = static_cast<uint32_t>(kept.moves_.size());
    kept.nodes_[node].first = first;
    kept.nodes_[node].moves = data.moves;
    for (uint32_t i = 0; i < data.moves; ++i) {
      const uint32_t edge = data.first + i;
      kept.add_edge(moves_[edge], priors_[edge], values_[edge]);
      kept.visits_.back() = visits_[edge];
      if (children_[edge] == kRoot) continue;
      kept.children_.back() = static_cast<Node>(from.size());
      NodeData child = nodes_[children_[edge]];
      child.parent = node;
      child.edge = first + i;
      child.depth = static_cast<int16_t>(kept.nodes_[node].depth + 1);
      kept.nodes_.push_back(child);
      from.push_back(children_[edge]);
    }
  }
  *this = std::move(kept);
}

}  // namespace tbd::go
