// Playouts a second and core of the tree search, with a network that costs next to nothing: selection, expansion and
// backing up alone. At least 100,000 a second are wanted on 9 x 9. A game is searched move by move and the tree kept.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "go/search.h"
#include "go/search_choice.h"

namespace {
using namespace tbd::go;

// Looks priors up by the position's hash, so that trees grow as deep as with a network that has a choice of moves.
class TableNetwork final : public Evaluator {
 public:
  explicit TableNetwork(int size) : width_(static_cast<size_t>(size * size + 1)), table_(kRows * width_) {
    RandomWords words(1, "bench/go_search");
    for (float& prior : table_) prior = 1.f / static_cast<float>(1 + words.below(100));
  }
  void evaluate(std::span<const Question> positions, std::span<float> priors, std::span<float> values) override {
    for (size_t i = 0; i < positions.size(); ++i) {
      const uint64_t hash = positions[i].game->board().hash();
      std::copy_n(table_.begin() + static_cast<std::ptrdiff_t>(hash % kRows * width_), width_,
                  priors.begin() + static_cast<std::ptrdiff_t>(i * width_));
      values[i] = static_cast<float>(static_cast<int64_t>(hash >> 44) - (1 << 19)) / (1 << 20);
    }
  }

 private:
  static constexpr size_t kRows = 256;
  size_t width_;
  std::vector<float> table_;
};

void playouts(benchmark::State& state) {
  const auto size = static_cast<int>(state.range(0));
  const SearchOptions options{.readouts = static_cast<int>(state.range(1)), .leaves = static_cast<int>(state.range(2))};
  TableNetwork network(size);
  Search search(Game(size, minigo_rules(size)), options);
  int64_t before = 0, playouts = 0, moves = 0, depth = 0;
  for (auto _ : state) {
    finish_search(search, network);
    playouts += search.tree().visits() - before;
    ++moves;
    depth = std::max<int64_t>(depth, search.counts().max_depth);
    const Move move = most_visited(search.tree());
    Game next = search.game();
    next.play(move);
    if (next.over())
      search = Search(Game(size, minigo_rules(size)), options);
    else
      search.play(move);
    before = search.tree().visits();
  }
  state.SetItemsProcessed(playouts);
  state.counters["deepest"] = static_cast<double>(depth);
}
BENCHMARK(playouts)
    ->ArgNames({"board", "readouts", "leaves"})
    ->Args({5, 64, 4})
    ->Args({9, 200, 8})
    ->Args({9, 800, 8})
    ->Args({9, 6400, 8})
    ->Args({19, 800, 8});

}  // namespace

BENCHMARK_MAIN();
