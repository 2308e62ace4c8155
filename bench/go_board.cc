// Random games of Go on one core: legal moves a second, the draw of the move among all legal ones included, and what
// copying a position costs. At least 200,000 moves a second are wanted on 19 x 19 with positional superko.
#include <benchmark/benchmark.h>

#include <vector>

#include "go/features.h"
#include "go/random_player.h"

namespace {
using namespace tbd::go;

// Whole games, one after the other.
void random_moves(benchmark::State& state) {
  const auto size = static_cast<int>(state.range(0));
  const Rules rules{.ko = state.range(1) ? Ko::positional_superko : Ko::simple, .max_moves = 2 * size * size};
  RandomWords words(1, "bench/go_board");
  Game game(size, rules);
  int64_t games = 0;
  for (auto _ : state) {
    if (game.over()) {
      game = Game(size, rules);
      ++games;
    }
    benchmark::DoNotOptimize(game.play(random_move(game, Eyes::spare, words)));
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["moves_per_game"] = static_cast<double>(state.iterations()) / static_cast<double>(games + 1);
}
BENCHMARK(random_moves)->ArgNames({"board", "superko"})->ArgsProduct({{9, 19}, {0, 1}});

Game middle_of_a_game(int size, Ko ko) {
  Game game(size, {.ko = ko});
  RandomWords words(2, "bench/go_board");
  for (int i = 0; i < size * size / 2; ++i) game.play(random_move(game, Eyes::spare, words));
  return game;
}

void legal_moves_of_a_position(benchmark::State& state) {
  const Game game = middle_of_a_game(19, state.range(0) ? Ko::positional_superko : Ko::simple);
  for (auto _ : state) {
    int count = 0;
    for (Move move = 0; move < game.board().points(); ++move) count += game.legal(move);
    benchmark::DoNotOptimize(count);
  }
}
BENCHMARK(legal_moves_of_a_position)->ArgName("superko")->Arg(0)->Arg(1);

void copy_of_a_game(benchmark::State& state) {
  const Game game = middle_of_a_game(19, state.range(0) ? Ko::positional_superko : Ko::simple);
  for (auto _ : state) {
    Game copy = game;
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(copy_of_a_game)->ArgName("superko")->Arg(0)->Arg(1);

void planes_of_a_position(benchmark::State& state) {
  const Game game = middle_of_a_game(19, Ko::simple);
  std::vector<float> x(kPlanes * 361);
  for (auto _ : state) {
    write_planes(game, 3, x);
    benchmark::DoNotOptimize(x.data());
  }
}
BENCHMARK(planes_of_a_position);

void score_of_a_position(benchmark::State& state) {
  const Game game = middle_of_a_game(19, Ko::simple);
  for (auto _ : state) benchmark::DoNotOptimize(game.score());
}
BENCHMARK(score_of_a_position);

}  // namespace

BENCHMARK_MAIN();
