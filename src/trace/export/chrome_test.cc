#include "trace/export/chrome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "trace/export/chrome_event.h"
#include "trace/export/csv.h"
#include "trace/import/kineto.h"

namespace tbd {
namespace {

using testing::HasSubstr;

Trace sample() {
  Trace trace;
  const TrackId host = trace.track({.rank = 2, .process = 10, .thread = 11, .name = trace.string("main")});
  const TrackId stream =
      trace.track({.place = Track::Place::device, .rank = 2, .device = 1, .context = 1, .thread = 7});
  const OpDetail op{
      .node = trace.string("layer1"), .shapes = trace.string("[[8,3],[]]"), .types = trace.string("[\"float\",\"\"]")};
  trace.add(
      {5000000001, 100, trace.string("aten::\"mm\"\n"), link_of_sequence(4), trace.detail(op), host, EventKind::op});
  trace.add({5000000010, 20, trace.string("cudaLaunchKernel"), 9, kNoDetail, host, EventKind::api});
  const KernelDetail kernel{.grid = {4, 2, 1}, .block = {128, 1, 1}, .registers = 32, .shared = 64};
  trace.add({5000000050, 1234, trace.string("gemm"), 9, trace.detail(kernel), stream, EventKind::kernel});
  trace.add({5000001300, 10, trace.string("Memcpy HtoD"), 10,
             trace.detail(CopyDetail{.bytes = 77, .direction = CopyDirection::to_device}), stream, EventKind::memcpy});
  const MemoryDetail memory{.address = 4096, .bytes = 512, .total = 1024};
  trace.add({5000000060, 0, trace.string("[memory]"), 0, trace.detail(memory), host, EventKind::free});
  trace.add({5000001400, 50, trace.string("preempted"), 0, kNoDetail, host, EventKind::off_cpu});
  trace.add({5000000000, 2000, trace.string("ProfilerStep#3"), 0, kNoDetail, host, EventKind::step});
  return trace;
}

TEST(ChromeExport, ImportGivesTheSameBack) {
  const Trace trace = sample();
  std::ostringstream out;
  EXPECT_EQ(write_chrome(trace, 2, {}, out), 7);
  Trace again;
  import_kineto(*memory_source(out.str()), again);
  EXPECT_TRUE(again.faults().empty());
  ASSERT_EQ(again.size(), trace.size());
  for (size_t i = 0; i < trace.size(); ++i) {
    size_t j = 0;
    while (j < again.size() && (again[j].begin != trace[i].begin || again.name(j) != trace.name(i))) ++j;
    ASSERT_LT(j, again.size()) << trace.name(i);
    EXPECT_EQ(again[j].duration, trace[i].duration);
    EXPECT_EQ(again[j].kind, trace[i].kind);
    EXPECT_EQ(again[j].link, trace[i].link);
    EXPECT_EQ(again.tracks()[again[j].track].rank, 2);
    EXPECT_EQ(again.tracks()[again[j].track].thread, trace.tracks()[trace[i].track].thread);
    if (trace[i].kind == EventKind::kernel) {
      EXPECT_EQ(*again.detail_of<KernelDetail>(j), *trace.detail_of<KernelDetail>(i));
    }
    if (trace[i].kind == EventKind::memcpy) {
      EXPECT_EQ(*again.detail_of<CopyDetail>(j), *trace.detail_of<CopyDetail>(i));
    }
    if (trace[i].kind == EventKind::op) {
      EXPECT_EQ(again.strings()[again.detail_of<OpDetail>(j)->shapes], "[[8,3],[]]");
      EXPECT_EQ(again.strings()[again.detail_of<OpDetail>(j)->node], "layer1");
    }
  }
}

TEST(ChromeExport, EpochStampsMoveToTheBase) {
  Trace trace;
  const TrackId track = trace.track({});
  trace.add({.begin = 1700000000000000123, .duration = 7, .name = trace.string("a"), .track = track});
  std::ostringstream out;
  write_chrome(trace, 0, {}, out);
  const Json json = parse_json(out.str(), "export");
  EXPECT_EQ(json["baseTimeNanoseconds"], 1700000000000000123);
  EXPECT_THAT(out.str(), HasSubstr("\"ts\": 0.000, \"dur\": 0.007"));
}

TEST(ChromeExport, SlicesThatDoNotNestGetATrackOfTheirOwn) {
  Trace trace;
  const TrackId track = trace.track({.thread = 5});
  trace.add({.begin = 0, .duration = 10, .name = trace.string("a"), .track = track});
  trace.add({.begin = 5, .duration = 10, .name = trace.string("b"), .track = track});
  trace.add({.begin = 6, .duration = 2, .name = trace.string("c"), .track = track});
  std::ostringstream out;
  write_chrome(trace, 0, {}, out);
  const Json json = parse_json(out.str(), "export");
  std::map<std::string, int64_t> tids;
  for (const Json& event : json["traceEvents"])
    if (event["ph"] == "X") tids[event["name"]] = event["tid"];
  EXPECT_EQ(tids["a"], 5);
  EXPECT_NE(tids["b"], 5);
  EXPECT_EQ(tids["c"], 5);
}

TEST(ChromeExport, ExportsOnlyEventsInTheWindow) {
  std::ostringstream out;
  EXPECT_EQ(write_chrome(sample(), 2, {.begin = 5000001300, .end = 5000001400}, out), 2);
}

TEST(ChromeExport, MicrosecondsKeepEveryNanosecond) {
  EXPECT_EQ(microseconds(1234567), "1234.567");
  EXPECT_EQ(microseconds(-5), "-0.005");
  EXPECT_EQ(microseconds(INT64_MIN), "-9223372036854775.808");
}

TEST(CsvExport, UnknownsAreEmptyCells) {
  std::ostringstream out;
  EXPECT_EQ(write_csv(sample(), {}, out), 7);
  EXPECT_THAT(out.str(), HasSubstr("kernel,gemm,2,device,1,0,7,5000000050,1234,9,,,,,\n"));
  EXPECT_THAT(out.str(),
              HasSubstr("op,\"aten::\"\"mm\"\"\n\",2,host,,10,11,5000000001,100,,4,,layer1,\"[[8,3],[]]\",\n"));
}

}  // namespace
}  // namespace tbd
