// A record of 10,000 steps read, analysed and reported: the target is under 1 s (docs/performance.md).
#include <benchmark/benchmark.h>

#include "analysis/cell.h"
#include "analysis/sample_record.h"
#include "base/files.h"
#include "record/reader.h"
#include "record/writer.h"
#include "report/plotly.h"
#include "report/report.h"

namespace tbd {
namespace {

void write_sample(const std::filesystem::path& folder, int64_t steps) {
  const Record sample = sample_record({.steps = steps, .noise = 0.01});
  RecordWriter writer(folder, sample.run);
  writer.begin_launch(sample.launches[0].info);
  writer.append(sample.launches[0].steps);
  writer.end_launch(sample.launches[0].info);
  writer.finish(sample.run, {});
}

void read_analyse_report(benchmark::State& state) {
  const TemporaryFolder folder;
  write_sample(folder.path() / "record", state.range(0));
  for (auto _ : state) {
    const std::vector<Record> records = {read_record(folder.path() / "record")};
    write_report(records, folder.path() / "report.html");
  }
}
BENCHMARK(read_analyse_report)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

void read_and_analyse(benchmark::State& state) {
  const TemporaryFolder folder;
  write_sample(folder.path() / "record", state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(to_json_line(summarize(read_record(folder.path() / "record"))));
}
BENCHMARK(read_and_analyse)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tbd

BENCHMARK_MAIN();
