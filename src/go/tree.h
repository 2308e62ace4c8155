// The tree of a Monte Carlo tree search with PUCT: Silver et al. 2017, "Mastering the game of Go without human
// knowledge", Methods; constants and details as in tensorflow/minigo (mcts.py, cc/mcts_tree.cc). docs/go.md has them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "go/game.h"

namespace tbd::go {

struct TreeOptions {
  // An unvisited move counts as much worse, for the player to move, than the position it is played in.
  double first_play_penalty = 0.2;
  // After a pass an unvisited pass is tried first, so that the end of the game is always known.
  bool double_pass_first = true;
};

// Nodes hold no board, and visits, values and priors of their legal moves alone (22 bytes a move). A node's position is
// found by playing the moves from the root. Values are in Black's view.
class Tree {
 public:
  using Node = uint32_t;
  static constexpr Node kRoot = 0;

  // The game may not be over.
  Tree(const Game& root, const TreeOptions& options);

  const Game& game() const { return game_; }  // the root's position
  bool expanded(Node node) const { return nodes_[node].moves > 0; }
  bool over(Node node) const { return nodes_[node].over; }  // its game is
  int depth(Node node) const { return nodes_[node].depth; }

  // Follows the best score from the root to a node that is not expanded, or over. `game` becomes its position.
  Node descend(Game& game);
  // Between these two calls every node from here to the root counts a loss of the player who chose it, so that the next
  // descent goes elsewhere.
  void add_virtual_loss(Node node) { change_values(node, 1); }
  void remove_virtual_loss(Node node) { change_values(node, -1); }
  // Gives the node its legal moves and counts the visit and its value along the way to the root. False, and nothing is
  // done, where it is expanded. priors (B * B + 1) and value as Evaluator gives them; where no legal move has a prior,
  // all are alike. Throws Error(invalid) for numbers that Evaluator may not give.
  bool expand(Node node, const Game& game, std::span<const float> priors, float value);
  // Counts a visit of a node that is over, with its result.
  void visit_end(Node node) { back_up(node, nodes_[node].result); }

  // The root's move becomes the root; what was found behind it is kept, all else is forgotten. The game may not end.
  void advance(Move move);

  // Of a node; visits and values of its own are those of the move that leads to it.
  int visits(Node node = kRoot) const { return visits_[nodes_[node].edge]; }
  double value_sum(Node node = kRoot) const { return values_[nodes_[node].edge]; }  // virtual losses included
  double mean_value(Node node = kRoot) const { return value_sum(node) / (1 + visits(node)); }
  // Of its legal moves, ascending; empty before it is expanded.
  std::span<const uint16_t> moves(Node node = kRoot) const { return edges_of(node, moves_); }
  std::span<const int32_t> move_visits(Node node = kRoot) const { return edges_of(node, visits_); }
  // Sums, the value that an unvisited move starts with included.
  std::span<const double> move_values(Node node = kRoot) const { return edges_of(node, values_); }
  std::span<const float> priors(Node node = kRoot) const { return edges_of(node, priors_); }
  std::span<const Node> children(Node node = kRoot) const { return edges_of(node, children_); }  // kRoot: none yet
  std::vector<double> scores() const;  // of the root's moves: what descend compares
  void set_root_prior(size_t index, float prior) { priors_[nodes_[kRoot].first + index] = prior; }

  size_t node_count() const { return nodes_.size(); }

 private:
  struct NodeData {
    Node parent = 0;
    uint32_t edge = 0;   // the parent's edge that leads here; the root has one of its own, 0
    uint32_t first = 0;  // the first of its own edges
    uint16_t moves = 0;  // its edges; 0: not expanded
    int16_t depth = 0;
    int8_t result = 0;  // of a game that is over: 1 where Black won, -1 where White did, 0 where nobody
    bool black = false, over = false, after_pass = false;
  };
  static NodeData node_of(const Game& game);
  template <class T>
  std::span<const T> edges_of(Node node, const std::vector<T>& edges) const {
    return std::span(edges).subspan(nodes_[node].first, nodes_[node].moves);
  }
  double exploration(Node node) const;
  uint32_t best_edge(Node node) const;
  Node child(Node parent, uint32_t edge, const Game& game);
  void back_up(Node node, double value);
  void change_values(Node node, double losses);
  void add_edge(uint16_t move, float prior, double value);
  void keep_only(Node node);

  TreeOptions options_;
  Game game_;
  std::vector<NodeData> nodes_;
  // By edge; those of a node lie side by side.
  std::vector<double> values_;
  std::vector<int32_t> visits_;
  std::vector<float> priors_;
  std::vector<Node> children_;
  std::vector<uint16_t> moves_;
};

}  // namespace tbd::go
