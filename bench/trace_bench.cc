// Reading and analysing traces against their floors: Kineto JSON against simdjson's tokenizer on the same file, gzip
// against inflating it, the whole analysis of a native trace against the bare sweep.
//   bench_trace_bench [--benchmark_filter=...]; TRACE_MB sets the size of the file that is made (default 100).
// An item is what a benchmark handles: an event of host or device for reading and analysis, an activity of a device for
// the sweep, which sees no others. The sweep's activities lie ready and in order of time, the fastest case there is.
// Inflating and parsing take a thread each: wall time is meant, and says what it should where two cores are idle; the
// CPU time beside it is that of both threads.
#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <zlib.h>

#include <cstdlib>

#include "analysis/trace/rank_analysis.h"
#include "base/files.h"
#include "trace/file.h"
#include "trace/import/import.h"
#include "trace/import/source.h"
#include "trace_kineto.h"

namespace tbd {
namespace {

int64_t megabytes() {
  const char* text = std::getenv("TRACE_MB");
  return text ? std::atoll(text) : 100;
}

// The files, made once.
struct Files {
  TemporaryFolder folder;
  std::filesystem::path json = folder.path() / "trace.json", native = folder.path() / "trace.tbdt",
                        packed = folder.path() / "trace.json.gz";
  int64_t bytes = 0;
  Files() {
    bench::KinetoMaker(json.string(), 1).steps_until(megabytes() << 20, 300);
    bytes = static_cast<int64_t>(std::filesystem::file_size(json));
    pack();
    TraceWriter writer(native);
    import_trace(json, writer.trace());
    writer.finish();
  }
  void pack() const {
    const std::string text = read_file(json);
    const gzFile out = gzopen(packed.c_str(), "wb6");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
  }
};
const Files& files() {
  static const Files made;
  return made;
}

// Every field of every event is visited and none is kept.
size_t tokenized(simdjson::ondemand::parser& parser, const simdjson::padded_string& text) {
  namespace od = simdjson::ondemand;
  od::document document = parser.iterate(text);
  size_t bytes = 0;
  for (od::object event : document["traceEvents"].get_array())
    for (auto field : event) bytes += field.value().raw_json_token().value().size();
  return bytes;
}

void tokenizer_with_load(benchmark::State& state) {
  for (auto _ : state) {
    simdjson::ondemand::parser parser;
    benchmark::DoNotOptimize(tokenized(parser, simdjson::padded_string::load(files().json.string())));
  }
  state.SetBytesProcessed(state.iterations() * files().bytes);
}
BENCHMARK(tokenizer_with_load)->Unit(benchmark::kMillisecond);

// The strictest floor: the text lies in memory, the parser's buffers are warm.
void tokenizer_alone(benchmark::State& state) {
  const simdjson::padded_string text = simdjson::padded_string::load(files().json.string());
  simdjson::ondemand::parser parser;
  for (auto _ : state) benchmark::DoNotOptimize(tokenized(parser, text));
  state.SetBytesProcessed(state.iterations() * files().bytes);
}
BENCHMARK(tokenizer_alone)->Unit(benchmark::kMillisecond);

// What any reader of the file pays: its bytes, a MiB at a time, into one buffer.
void read_file_alone(benchmark::State& state) {
  std::string buffer(1 << 20, '\0');
  for (auto _ : state) {
    const auto source = open_source(files().json);
    while (source->read(buffer.data(), buffer.size()) > 0) {
    }
  }
  state.SetBytesProcessed(state.iterations() * files().bytes);
}
BENCHMARK(read_file_alone)->UseRealTime()->Unit(benchmark::kMillisecond);

void inflate_alone(benchmark::State& state) {
  std::string buffer(1 << 20, '\0');
  for (auto _ : state) {
    const auto source = open_source(files().packed);
    while (source->read(buffer.data(), buffer.size()) > 0) {
    }
  }
  state.SetBytesProcessed(state.iterations() * files().bytes);
}
BENCHMARK(inflate_alone)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

void import_gzip(benchmark::State& state) {
  for (auto _ : state) {
    Trace trace;
    import_trace(files().packed, trace);
    benchmark::DoNotOptimize(trace.size());
  }
  state.SetBytesProcessed(state.iterations() * files().bytes);
}
BENCHMARK(import_gzip)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

void import_json(benchmark::State& state) {
  size_t events = 0;
  for (auto _ : state) {
    Trace trace;
    import_trace(files().json, trace);
    events = trace.size();
  }
  state.SetBytesProcessed(state.iterations() * files().bytes);
  state.counters["events"] = static_cast<double>(events);
}
BENCHMARK(import_json)->Unit(benchmark::kMillisecond);

void read_native(benchmark::State& state) {
  size_t events = 0;
  for (auto _ : state) events = read_trace(files().native).size();
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(events));
}
BENCHMARK(read_native)->Unit(benchmark::kMillisecond);

void analyze_native(benchmark::State& state) {
  size_t events = 0;
  for (auto _ : state) {
    const Trace trace = read_trace(files().native);
    events = trace.size();
    benchmark::DoNotOptimize(analyze_rank(trace, 0).masks.busy());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(events));
}
BENCHMARK(analyze_native)->Unit(benchmark::kMillisecond);

void analyze_in_memory(benchmark::State& state) {
  const Trace trace = read_trace(files().native);
  for (auto _ : state) benchmark::DoNotOptimize(analyze_rank(trace, 0).masks.busy());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.size()));
}
BENCHMARK(analyze_in_memory)->Unit(benchmark::kMillisecond);

// The floor: activities that lie ready, merged by time, one sweep.
void bare_sweep(benchmark::State& state) {
  const Trace trace = read_trace(files().native);
  const RankEvents rank = rank_events(trace, 0);
  for (auto _ : state) benchmark::DoNotOptimize(sweep(rank.activities, {0, INT64_MAX}).busy());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rank.activities.size()));
}
BENCHMARK(bare_sweep)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tbd

BENCHMARK_MAIN();
