#include "go/search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "go/dirichlet.h"
#include "go/symmetry.h"

namespace tbd::go {
namespace {

// The finalizer of SplitMix64 (Steele et al. 2014): every bit of the input decides every bit of the result.
uint64_t spread(uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

void mix_noise(Tree& tree, RootNoise& noise) {
  const std::vector<double> drawn = dirichlet(noise.alpha, tree.moves().size(), noise.words);
  for (size_t i = 0; i < drawn.size(); ++i) {
    const double prior = (1 - noise.weight) * static_cast<double>(tree.priors()[i]) + noise.weight * drawn[i];
    tree.set_root_prior(i, static_cast<float>(prior));
  }
}

}  // namespace

double noise_alpha(int size) { return 0.03 * 361 / (size * size); }

SearchCounts& SearchCounts::operator+=(const SearchCounts& other) {
  evaluations += other.evaluations;
  terminal_visits += other.terminal_visits;
  duplicate_leaves += other.duplicate_leaves;
  max_depth = std::max(max_depth, other.max_depth);
  return *this;
}

Search::Search(const Game& game, const SearchOptions& options, std::optional<uint64_t> symmetry_key)
    : options_(options), symmetry_key_(symmetry_key), tree_(game, options.tree) {
  require(options.readouts >= 1, "a search has at least one readout, got ", options.readouts);
  require(options.leaves >= 1, "a search evaluates at least one leaf at a time, got ", options.leaves);
}

void Search::play(Move move) {
  tree_.advance(move);
  target_.reset();
}

void Search::begin(std::optional<RootNoise> noise) {
  noise_ = std::move(noise);
  target_.reset();
}

std::span<const Question> Search::ask() {
  questions_.clear();
  if (!tree_.expanded(Tree::kRoot)) {
    Leaf& leaf = free_leaf();
    leaf.node = tree_.descend(leaf.game);
    questions_.push_back({&leaf.game, symmetry_of(leaf.game)});
  } else {
    if (!target_) start_at_root();
    if (tree_.visits() < *target_) fill_batch();
  }
  counts_.evaluations += static_cast<int64_t>(questions_.size());
  return questions_;
}

void Search::start_at_root() {
  target_ = tree_.visits() + options_.readouts;
  if (noise_) mix_noise(tree_, *noise_);
}

void Search::fill_batch() {
  const auto wanted = static_cast<size_t>(options_.leaves);
  do {
    Leaf& leaf = free_leaf();
    leaf.node = tree_.descend(leaf.game);
    counts_.max_depth = std::max(counts_.max_depth, tree_.depth(leaf.node));
    if (tree_.over(leaf.node)) {
      tree_.visit_end(leaf.node);
      ++counts_.terminal_visits;
    } else {
      tree_.add_virtual_loss(leaf.node);
      questions_.push_back({&leaf.game, symmetry_of(leaf.game)});
    }
  } while (questions_.size() < wanted && tree_.visits() < *target_);
}

// Questions point to leaves, which therefore never move.
Search::Leaf& Search::free_leaf() {
  if (leaves_.empty()) leaves_.assign(static_cast<size_t>(options_.leaves), {Tree::kRoot, tree_.game()});
  return leaves_[questions_.size()];
}

int Search::symmetry_of(const Game& game) const {
  if (!symmetry_key_) return 0;
  return static_cast<int>(spread(game.board().hash() ^ *symmetry_key_) % kSymmetries);
}

void Search::receive(std::span<const float> priors, std::span<const float> values) {
  const auto width = static_cast<size_t>(tree_.game().board().points()) + 1;
  require(values.size() == questions_.size() && priors.size() == width * values.size(), questions_.size(),
          " positions were asked about, got ", values.size(), " values and ", priors.size(), " priors");
  const bool root_alone = !tree_.expanded(Tree::kRoot);
  for (size_t i = 0; i < values.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    if (!root_alone) tree_.remove_virtual_loss(leaf.node);
    if (!tree_.expand(leaf.node, leaf.game, priors.subspan(i * width, width), values[i])) ++counts_.duplicate_leaves;
  }
  questions_.clear();
}

void finish_search(Search& search, Evaluator& network) {
  const auto width = static_cast<size_t>(search.game().board().points()) + 1;
  std::vector<float> priors, values;
  for (auto asked = search.ask(); !asked.empty(); asked = search.ask()) {
    priors.resize(width * asked.size());
    values.resize(asked.size());
    network.evaluate(asked, priors, values);
    search.receive(priors, values);
  }
}

}  // namespace tbd::go
