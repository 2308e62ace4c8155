// Records read, analysed and reported. Targets (docs/performance.md): one of 10,000 steps under 1 s; 1,000 of 100 steps
// under 3 s, and under 8 MB beside the chart library.
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

void write(const std::filesystem::path& folder, const Record& sample) {
  RecordWriter writer(folder, sample.run);
  writer.begin_launch(sample.launches[0].info);
  writer.append(sample.launches[0].steps);
  writer.end_launch(sample.launches[0].info);
  writer.finish(sample.run, {});
}

void write_sample(const std::filesystem::path& folder, int64_t steps) {
  write(folder, sample_record({.steps = steps, .noise = 0.01}));
}

// Ten models, three frameworks, two math types, two input modes, eight batches, then some cells a second time.
void write_matrix(const std::filesystem::path& results, int64_t records) {
  constexpr const char* kFrameworks[] = {"pytorch", "tensorflow", "mxnet"};
  for (int64_t i = 0; i < records; ++i) {
    const int64_t cell = i % 960, batch = int64_t{1} << (cell % 8);
    Record record = sample_record({.steps = 100,
                                   .step_seconds = 0.02 + 0.01 * static_cast<double>(batch),
                                   .noise = 0.005 + 1e-6 * static_cast<double>(i),
                                   .input_mode = cell / 16 % 2 ? InputMode::kPipeline : InputMode::kResident,
                                   .precision = cell / 8 % 2 ? Precision::kBf16 : Precision::kFp32});
    MeasuredWorkload& w = record.run.workload;
    w.batch = w.samples_per_step = batch;
    w.framework = kFrameworks[cell / 32 % 3];
    w.model = cat("model", cell / 96);
    for (StepRow& row : record.launches[0].steps) row.units = static_cast<double>(batch);
    record.launches[0].info.batch_seen = batch;
    write(results / cat("record-", 1000 + i), record);
  }
}

void read_analyse_report(benchmark::State& state) {
  const TemporaryFolder folder;
  write_sample(folder.path() / "record", state.range(0));
  for (auto _ : state) {
    const std::vector<Record> records = {read_record(folder.path() / "record")};
    write_report({records}, folder.path() / "report.html");
  }
}
BENCHMARK(read_analyse_report)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

// From a folder of records to the page. The counter: MB of the page beside the library.
void report_of_many(benchmark::State& state) {
  const TemporaryFolder folder;
  write_matrix(folder.path() / "results", state.range(0));
  const std::filesystem::path paths[] = {folder.path() / "results"};
  std::vector<UnreadableRecord> none;
  for (auto _ : state) write_report({read_records(paths, none)}, folder.path() / "report.html");
  const auto bytes = static_cast<double>(std::filesystem::file_size(folder.path() / "report.html"));
  state.counters["MB"] = (bytes - static_cast<double>(plotly_js().size())) / 1e6;
}
BENCHMARK(report_of_many)->Arg(100)->Arg(1'000)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

// The part of it that reads.
void read_many(benchmark::State& state) {
  const TemporaryFolder folder;
  write_matrix(folder.path() / "results", state.range(0));
  const std::filesystem::path paths[] = {folder.path() / "results"};
  std::vector<UnreadableRecord> none;
  for (auto _ : state) benchmark::DoNotOptimize(read_records(paths, none));
}
BENCHMARK(read_many)->Arg(1'000)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void read_and_analyse(benchmark::State& state) {
  const TemporaryFolder folder;
  write_sample(folder.path() / "record", state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(to_json_line(summarize(read_record(folder.path() / "record"))));
}
BENCHMARK(read_and_analyse)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tbd

BENCHMARK_MAIN();
