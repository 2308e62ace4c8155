// A search for one game's moves: it asks for evaluations of a few leaves at a time and waits for the answers, so that
// many searches can share a network's batches.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "go/evaluator.h"
#include "go/random_player.h"
#include "go/tree.h"

namespace tbd::go {

struct SearchOptions {
  int readouts = 100;  // visits added to the root for each move
  int leaves = 4;      // evaluated together at most; a move may get so many visits more, less one
  TreeOptions tree = {};
};

// Dirichlet noise on the priors of the root's legal moves: P becomes (1 - weight) P + weight Dir(alpha).
struct RootNoise {
  double weight = 0.25, alpha = 0.03;
  RandomWords words;
};
double noise_alpha(int size);  // 0.03 * 361 / B^2

struct SearchCounts {
  int64_t evaluations = 0;       // positions asked about
  int64_t terminal_visits = 0;   // visits of positions where the game is over
  int64_t duplicate_leaves = 0;  // evaluations dropped, since the same batch had the position already
  int max_depth = 0;
  SearchCounts& operator+=(const SearchCounts& other);
};

class Search {
 public:
  // The network sees positions under a symmetry that their stones and the key decide; without a key as they are.
  Search(const Game& game, const SearchOptions& options, std::optional<uint64_t> symmetry_key = {});

  const Tree& tree() const { return tree_; }
  const Game& game() const { return tree_.game(); }
  const SearchCounts& counts() const { return counts_; }

  // Begins the search for the next move.
  void begin(std::optional<RootNoise> noise = {});
  // What is to be evaluated next; empty where the search has ended. Valid until `receive`, which must follow otherwise.
  std::span<const Question> ask();
  // The answers, in order. When it throws, as Tree::expand does, the search is of no more use.
  void receive(std::span<const float> priors, std::span<const float> values);

  // Plays a legal move that does not end the game, and keeps what was found behind it.
  void play(Move move);

 private:
  struct Leaf {
    Tree::Node node = Tree::kRoot;
    Game game;
  };
  void start_at_root();
  void fill_batch();
  Leaf& free_leaf();
  int symmetry_of(const Game& game) const;

  SearchOptions options_;
  std::optional<uint64_t> symmetry_key_;
  Tree tree_;
  std::optional<RootNoise> noise_;
  std::optional<int> target_;  // visits of the root at which the search ends; nullopt before it is expanded
  std::vector<Leaf> leaves_;   // the first `questions_.size()` wait for answers
  std::vector<Question> questions_;
  SearchCounts counts_;
};

// Runs the search for a move to its end.
void finish_search(Search& search, Evaluator& network);

}  // namespace tbd::go
