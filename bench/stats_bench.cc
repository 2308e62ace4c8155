// What the statistics of one launch cost: the stable phase, throughput and summary of n steps, and one A/B comparison.
// CPU time; a 10,000-step record is to be analysed and reported in under 1 s.
#include <benchmark/benchmark.h>

#include <vector>

#include "stats/compare.h"
#include "stats/effort.h"
#include "stats/summary.h"
#include "stats/synthetic.h"

namespace {

// Flat: no change to prune by, the longest case of the segmentation.
void analyse_flat_launch(benchmark::State& state) {
  const std::vector<double> times = tbd::synthetic::ar1(state.range(0), 0.5, 0.01, 1);
  for (auto _ : state) {
    const tbd::StablePhase phase = tbd::find_stable_phase(times);
    const tbd::Series stable = tbd::Series(times).subspan(static_cast<size_t>(phase.start));
    benchmark::DoNotOptimize(tbd::throughput(stable, 8.0));
    benchmark::DoNotOptimize(tbd::summary(stable));
  }
}
BENCHMARK(analyse_flat_launch)
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(5'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

// Ten levels: most starts are pruned.
void analyse_changing_launch(benchmark::State& state) {
  std::vector<double> times = tbd::synthetic::ar1(state.range(0), 0.5, 0.01, 1);
  for (size_t i = 0; i < times.size(); ++i) times[i] *= 1 + 0.1 * static_cast<double>(10 * i / times.size() % 2);
  for (auto _ : state) benchmark::DoNotOptimize(tbd::find_stable_phase(times));
}
BENCHMARK(analyse_changing_launch)->Arg(10'000)->Unit(benchmark::kMillisecond);

void apply_stop_rule(benchmark::State& state) {
  const std::vector<double> times = tbd::synthetic::ar1(state.range(0), 0.5, 0.01, 1);
  for (auto _ : state) benchmark::DoNotOptimize(tbd::measured_enough(times, tbd::Effort::quick));
}
BENCHMARK(apply_stop_rule)->Arg(50)->Arg(500)->Unit(benchmark::kMicrosecond);

void compare_five_launches(benchmark::State& state) {
  const std::vector<double> a = tbd::synthetic::ar1(5, 0, 0.01, 1), b = tbd::synthetic::ar1(5, 0, 0.01, 2);
  for (auto _ : state) benchmark::DoNotOptimize(tbd::compare(a, b));
}
BENCHMARK(compare_five_launches)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
