// Foreign formats other than Kineto's, on hand-made files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "base/error.h"
#include "base/files.h"
#include "trace/file.h"
#include "trace/import/import.h"
#include "trace/import/mxnet.h"
#include "trace/import/nsight.h"
#include "trace/import/step_stats.h"
#include "trace/import/wire.h"
#include "trace/import/xplane.h"

namespace tbd {
namespace {

// Protocol-buffer messages by hand.
std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string number(int field, int64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(value));
}
std::string bytes(int field, std::string_view text) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(text.size()) + std::string(text);
}

std::string node_stats(std::string_view name, int64_t start_us, std::string_view label) {
  return bytes(1, name) + number(2, start_us) + number(3, 5) + number(4, 25) + number(5, 30) + bytes(8, label) +
         number(10, 77) +
         bytes(6, bytes(1, "cpu") + bytes(6, number(1, start_us + 6) + number(2, 4096)) +
                      bytes(6, number(1, start_us + 8) + number(2, -4096)));
}

TEST(StepStats, ReadsOpsAndAllocations) {
  const std::string device = bytes(1, "/job:localhost/replica:0/task:0/device:CPU:0") +
                             bytes(2, node_stats("layer1/conv", 1000, "layer1/conv = Conv2D(x, w)"));
  for (const std::string& message : {bytes(1, device), bytes(1, bytes(1, device))}) {  // StepStats, RunMetadata
    Trace trace;
    import_step_stats(message, trace);
    ASSERT_EQ(trace.size(), 3u);
    EXPECT_EQ(trace.name(0), "Conv2D");
    EXPECT_EQ(trace.strings()[trace.detail_of<OpDetail>(0)->node], "layer1/conv");
    EXPECT_EQ(trace[0].begin, 1005000);
    EXPECT_EQ(trace[0].duration, 20000);
    EXPECT_EQ(trace.tracks()[trace[0].track].thread, 77);
    EXPECT_EQ(trace[1].kind, EventKind::alloc);
    EXPECT_EQ(trace[1].begin, 1006000);
    EXPECT_EQ(trace[2].kind, EventKind::free);
    EXPECT_EQ(trace.detail_of<MemoryDetail>(2)->bytes, 4096);
  }
}

TEST(StepStats, NanosecondsComeFirstAndStreamsCountOnce) {
  const auto fine = [](std::string_view name) {
    return bytes(1, name) + number(2, 1) + number(13, 1000123) + number(14, 7) + number(15, 107);
  };
  const auto device = [&](std::string_view name) { return bytes(1, bytes(1, name) + bytes(2, fine("k"))); };
  Trace trace;
  import_step_stats(device("/device:GPU:1/stream:7") + device("/device:GPU:1/stream:all"), trace);
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace[0].begin, 1000130);
  EXPECT_EQ(trace[0].duration, 100);
  EXPECT_EQ(trace[0].kind, EventKind::kernel);
  EXPECT_EQ(trace.tracks()[trace[0].track].device, 1);
  EXPECT_EQ(trace.tracks()[trace[0].track].thread, 7);
}

TEST(Xplane, ReadsThreadsAndStreams) {
  const auto metadata = [](int64_t id, std::string_view name) {
    return number(1, id) + bytes(2, number(1, id) + bytes(2, name));
  };
  const auto event = [](int64_t id, int64_t offset_ps, int64_t duration_ps, int64_t correlation) {
    return bytes(4, number(1, id) + number(2, offset_ps) + number(3, duration_ps) +
                        (correlation ? bytes(4, number(1, 9) + number(3, correlation)) : ""));
  };
  const auto line = [](std::string_view name, int64_t id, const std::string& events) {
    return bytes(3, number(1, id) + bytes(2, name) + number(3, 500) + events);
  };
  const std::string names =
      bytes(4, metadata(1, "gemm")) + bytes(4, metadata(2, "cuLaunchKernel")) + bytes(5, metadata(9, "correlation_id"));
  const std::string host = bytes(1, bytes(2, "/host:CPU") + line("main", 11, event(2, 1000, 2500, 5)) + names);
  const std::string device =
      bytes(1, bytes(2, "/device:GPU:0") + line("Stream #7(Compute)", 7, event(1, 10499, 1001, 5)) +
                   line("XLA Modules", 8, event(1, 0, 99999, 0)) + names);
  Trace trace;
  import_xplane(host + device, trace);
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace[0].kind, EventKind::api);
  EXPECT_EQ(trace[0].begin, 501);
  EXPECT_EQ(trace[0].duration, 3);  // from 1 to 3.5, rounded to 4
  EXPECT_EQ(trace[1].kind, EventKind::kernel);
  EXPECT_EQ(trace[1].begin, 510);
  EXPECT_EQ(trace[1].end(), 512);
  EXPECT_EQ(trace[0].link, trace[1].link);
}

TEST(Wire, HostileMessagesAreRefused) {
  std::mt19937_64 random(2);
  const std::string good = bytes(
      1, bytes(1, "/device:CPU:0") + bytes(2, node_stats("a", 1, "a = B()")) + bytes(2, node_stats("c", 9, "c = D()")));
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    if (i % 3 == 0) bad.resize(random() % bad.size());
    for (const bool xplane : {false, true}) {
      Trace trace;
      try {
        xplane ? import_xplane(bad, trace) : import_step_stats(bad, trace);
      } catch (const Error&) {
      }
    }
  }
}

Trace mxnet(std::string_view json) {
  Trace trace;
  import_mxnet(*memory_source(json), trace);
  return trace;
}

TEST(Mxnet, ATaskThatAProgramNamesIsARange) {
  const Trace trace = mxnet(R"js({"traceEvents": [
    {"ph": "M", "args": {"name": "mine"}, "pid": 13762147304865611845, "name": "process_name"},
    {"name": "ProfilerStep#9", "cat": "mine", "ph": "b", "ts": 100, "id": 7, "pid": 13762147304865611845, "tid": 7},
    {"name": "ProfilerStep#9", "cat": "mine", "ph": "e", "ts": 130, "id": 7, "pid": 13762147304865611845, "tid": 7},
    {"name": "mean", "cat": "operator", "ph": "b", "ts": 500, "id": 3, "pid": 3060606181218273969, "tid": 3},
    {"name": "mean", "cat": "operator", "ph": "e", "ts": 500, "id": 3, "pid": 3060606181218273969, "tid": 3}]})js");
  ASSERT_EQ(trace.size(), 1u) << "operators have begins and ends of their own";
  EXPECT_EQ(trace.name(0), "ProfilerStep#9");
  EXPECT_EQ(trace[0].duration, 30000);
  EXPECT_EQ(trace[0].kind, EventKind::annotation);
  EXPECT_TRUE(trace.faults().empty());
}
TEST(Mxnet, AWaitOfTheEngineIsNoOp) {
  const Trace trace = mxnet(R"js({"traceEvents": [
    {"ph": "M", "args": {"name": "cpu/0"}, "pid": 0, "name": "process_name"},
    {"name": "WaitForVar", "cat": "operator", "ph": "B", "ts": 100, "pid": 0, "tid": 3},
    {"name": "WaitForVar", "cat": "operator", "ph": "E", "ts": 130, "pid": 0, "tid": 3}]})js");
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace[0].kind, EventKind::sync);
}
TEST(Mxnet, PairsBeginsAndEnds) {
  const Trace trace = mxnet(R"js({"traceEvents": [
    {"ph": "M", "args": {"name": "cpu/0"}, "pid": 0, "name": "process_name"},
    {"ph": "M", "args": {"name": "gpu/0"}, "pid": 1, "name": "process_name"},
    {"name": "Convolution", "cat": "operator", "ph": "B", "ts": 100, "pid": 0, "tid": 16045690984833335023},
    {"name": "Convolution", "cat": "operator", "ph": "E", "ts": 130, "pid": 0, "tid": 16045690984833335023},
    {"name": "_backward_Convolution", "cat": "operator", "ph": "B", "ts": 140, "pid": 1, "tid": 3},
    {"name": "_backward_Convolution", "cat": "operator", "ph": "E", "ts": 141, "pid": 1, "tid": 3},
    {"name": "lost", "cat": "operator", "ph": "B", "ts": 200, "pid": 0, "tid": 9},
    {"name": "stray", "cat": "operator", "ph": "E", "ts": 201, "pid": 0, "tid": 9})js");
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace[0].begin, 100000);
  EXPECT_EQ(trace[0].duration, 30000);
  EXPECT_EQ(trace[0].kind, EventKind::op);
  EXPECT_EQ(trace[1].kind, EventKind::kernel);
  EXPECT_EQ(trace[1].phase, EventPhase::backward);
  EXPECT_EQ(trace.tracks()[trace[1].track].place, Track::Place::device);
  EXPECT_EQ(trace.faults().size(), 3u);  // a begin, an end, and the array that is not closed
}

class Files : public testing::Test {
 protected:
  std::filesystem::path path(std::string_view name) const { return folder_.path() / name; }
  void sql(const std::filesystem::path& path, const char* statements) {
    sqlite3* file = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &file), SQLITE_OK);
    char* why = nullptr;
    ASSERT_EQ(sqlite3_exec(file, statements, nullptr, nullptr, &why), SQLITE_OK) << why;
    sqlite3_close(file);
  }

 private:
  TemporaryFolder folder_;
};

constexpr const char* kNsight = R"sql(
  CREATE TABLE StringIds(id INTEGER, value TEXT);
  INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'ncclDevKernel_AllReduce'), (4, 'step');
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER, blockX INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (2000, 2100, 0, 1, 7, 5, 42 << 24, 1, 12, 128), (2200, 2300, 0, 1, 20, 6, 42 << 24, 3, 1, 1),
    (2000, 2050, 1, 1, 7, 5, 43 << 24, 1, 12, 128);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
    (1900, 1950, (42 << 24) | 42, 5, 2), (1900, 1950, (43 << 24) | 99, 5, 2), (3000, 2000, (42 << 24) | 42, 8, 2);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(100, 110, 0, 1, 7, 1, 42 << 24, 4096, 1);
  CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, text TEXT, textId INTEGER, eventType INTEGER, globalTid INTEGER);
  INSERT INTO NVTX_EVENTS VALUES(0, 5000, NULL, 4, 59, (42 << 24) | 42), (1, NULL, 'open', NULL, 59, 1);
)sql";

TEST_F(Files, NsightTablesAreRead) {
  sql(path("a.sqlite"), kNsight);
  Trace trace;
  import_trace(path("a.sqlite"), trace);
  ASSERT_EQ(trace.size(), 7u);
  std::map<EventKind, int> kinds;
  for (size_t i = 0; i < trace.size(); ++i) ++kinds[trace[i].kind];
  EXPECT_EQ(kinds[EventKind::kernel], 2);
  EXPECT_EQ(kinds[EventKind::collective], 1);
  EXPECT_EQ(kinds[EventKind::api], 2);
  EXPECT_EQ(kinds[EventKind::memcpy], 1);
  EXPECT_EQ(kinds[EventKind::annotation], 1);
  EXPECT_EQ(trace.faults().size(), 1u);
  EXPECT_EQ(trace[0].link, trace[2].link);  // the call of process 42 and its kernel
  EXPECT_EQ(trace[1].link, trace[4].link);  // the same number of process 43
  EXPECT_NE(trace[0].link, trace[1].link);
  EXPECT_EQ(trace.tracks()[trace[4].track].rank, 1);
  EXPECT_EQ(trace.detail_of<KernelDetail>(2)->grid[0], 12u);
}

TEST_F(Files, ReportsADamagedDatabase) {
  sql(path("a.sqlite"), kNsight);
  const std::string whole = read_file(path("a.sqlite"));
  std::mt19937_64 random(4);
  for (int i = 0; i < 200; ++i) {
    std::string bad = whole;
    for (int j = 0; j < 20; ++j) bad[100 + random() % (bad.size() - 100)] = static_cast<char>(random());
    if (i % 4 == 0) bad.resize(bad.size() / 2);
    write_file(path("b.sqlite"), bad);
    Trace trace;
    try {
      import_trace(path("b.sqlite"), trace);
    } catch (const Error&) {
    }
  }
}

TEST_F(Files, FormatsAreToldByContent) {
  write_file(path("a"), R"js({"traceEvents": [{"ph": "X", "ts": 1}]})js");
  EXPECT_EQ(trace_format(path("a")), TraceFormat::kineto);
  write_file(path("a"), R"js({"traceEvents": [{"ph": "B", "ts": 1}]})js");
  EXPECT_EQ(trace_format(path("a")), TraceFormat::mxnet);
  TraceWriter(path("a")).finish();
  EXPECT_EQ(trace_format(path("a")), TraceFormat::native);
  write_file(path("a.xplane.pb"), "\n\x02");
  EXPECT_EQ(trace_format(path("a.xplane.pb")), TraceFormat::xplane);
  write_file(path("a"), "hello");
  EXPECT_THROW(trace_format(path("a")), Error);
  write_file(path("a"), "");
  EXPECT_THROW(trace_format(path("a")), Error);
  EXPECT_THROW(trace_format(path("none")), Error);
}

}  // namespace
}  // namespace tbd
