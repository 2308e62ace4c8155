// Bad input of every kind: a verdict that says where, bounded memory, what was good is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/json_window.h"
#include "trace/block.h"
#include "trace/codec.h"
#include "trace/file.h"
#include "trace/import/import.h"
#include "trace/import/kineto.h"
#include "trace/import/mllog.h"
#include "trace/import/mxnet.h"
#include "trace/import/step_stats.h"
#include "trace/import/testing_import.h"
#include "trace/import/xplane.h"

namespace tbd {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing_import::gzip;

constexpr std::string_view kEvent = R"js({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1})js";

std::string refusal(const auto& read) {
  try {
    read();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// "COUNT POSITION" of the first fault that holds `what`.
std::string place_of_fault(const Trace& trace, std::string_view what) {
  const Fault* found = testing_import::fault(trace, what);
  return found ? cat(found->count, " ", found->first) : "";
}

std::string packed_varint(uint64_t value) {
  ByteWriter out;
  out.varint(value);
  return out.take();
}
std::string field(int number, std::string_view bytes) {
  return packed_varint(static_cast<uint64_t>(number) << 3 | 2) + packed_varint(bytes.size()) + std::string(bytes);
}
std::string field(int number, int64_t value) {
  return packed_varint(static_cast<uint64_t>(number) << 3) + packed_varint(static_cast<uint64_t>(value));
}

// The most memory that this process has held since `reset`.
class PeakMemory {
 public:
  PeakMemory() {
    std::ofstream("/proc/self/clear_refs") << "5";
    begin_ = peak_kib();
  }
  void expect_growth_within(int64_t mib) const {
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what is freed for a while
    EXPECT_LE((peak_kib() - begin_) / 1024, mib);
#else
    (void)mib;
#endif
  }

 private:
  static int64_t peak_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6);
    return 0;
  }
  int64_t begin_ = 0;
};

class Hostile : public testing::Test {
 protected:
  std::filesystem::path path(std::string_view name) const { return folder_.path() / name; }
  std::string refused(std::string_view name, std::string_view content) const {
    write_file(path(name), content);
    return refusal([&] {
      Trace trace;
      import_trace(path(name), trace);
    });
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Hostile, RejectsUtf16AndUtf32ByName) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"\xff\xfe{\0"sv, "\xfe\xff\0{"sv, "{\0\"\0"sv, "\0{\0\""sv, "[\0\0\0{\0\0\0"sv, "\0\0\0[\0\0\0{"sv})
    EXPECT_THAT(refused("a.json", text), AllOf(HasSubstr("a.json"), HasSubstr("UTF-16")));
}

TEST_F(Hostile, AByteOrderMarkAndLatin1AreRead) {
  const Trace trace =
      testing_import::kineto(cat("\xef\xbb\xbf{\"traceEvents\":[", kEvent,
                                 ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"caf\xe9\",\"pid\":0,\"tid\":7,"
                                 "\"ts\":9,\"dur\":1},",
                                 kEvent, "]}"));
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace.name(1), "caf?");
  EXPECT_THAT(place_of_fault(trace, "repaired"), StartsWith("1 byte 8"));
}

TEST_F(Hostile, CutAndEmptyFilesSayWhere) {
  EXPECT_THAT(refused("a.json", ""), HasSubstr("a.json is empty"));
  EXPECT_THAT(refused("a.json.gz", gzip("")), HasSubstr("is empty"));
  EXPECT_THAT(refused("a.json.gz", gzip("{\"traceEvents\": []}").substr(0, 5)), HasSubstr("empty"));
  EXPECT_THAT(refused("a.txt", "hello"), HasSubstr("is no trace that tbd reads"));
  EXPECT_THAT(refused("a.xplane.pb", field(1, field(2, "/host:CPU")).substr(0, 5)), HasSubstr("byte 2: a field of"));
  EXPECT_THAT(refused("a.pb", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), HasSubstr("byte 11: a number"));
}

TEST_F(Hostile, OneBadPlaneKeepsThoseBefore) {
  const std::string names = field(4, field(1, 1) + field(2, field(1, 1) + field(2, "op")));
  const std::string event = field(4, field(1, 1) + field(2, 1000) + field(3, 2000));
  const std::string plane = field(1, field(2, "/host:CPU") + field(3, field(1, 5) + event) + names);
  const std::string cut = (plane + plane).substr(0, 2 * plane.size() - 3);
  Trace trace;
  import_xplane(cut, trace);
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_THAT(place_of_fault(trace, "the rest was not read"), HasSubstr(cat("byte ", plane.size() + 2)));
}

TEST_F(Hostile, RejectsNestedStepStatistics) {
  std::string nested;
  for (int i = 0; i < 30000; ++i)
    nested = packed_varint(1 << 3 | 2) + packed_varint(nested.size()) + nested.substr(0, 1 << 20);
  Trace trace;
  EXPECT_THAT(refusal([&] { import_step_stats(nested, trace); }), HasSubstr("no step statistics"));
}

TEST_F(Hostile, ABadOpIsPassedOver) {
  const std::string good = field(2, field(1, "a") + field(2, 1000) + field(3, 1) + field(4, 5));
  const std::string bad = field(2, "\x0a\x7f");
  Trace trace;
  import_step_stats(field(1, field(1, "/device:CPU:0") + good + bad + good), trace);
  EXPECT_EQ(trace.size(), 2u);
  EXPECT_THAT(place_of_fault(trace, "malformed events"), HasSubstr("1 byte "));
}

TEST_F(Hostile, TimesBeyondTheRangeAreCounted) {
  const Trace trace = testing_import::kineto(R"js({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":9223372036854775.807,"dur":0},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":9223372036854775.807,"dur":0.001},
    {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":1e300,"dur":1},
    {"ph":"X","cat":"kernel","name":"d","pid":0,"tid":7,"ts":-9223372036854775.807,"dur":9223372036854775.807}]})js");
  EXPECT_EQ(trace.size(), 2u);
  EXPECT_THAT(place_of_fault(trace, "beyond the range of time"), StartsWith("1 byte "));
  EXPECT_THAT(place_of_fault(trace, "without a time"), StartsWith("1 byte "));
  Trace mxnet;
  import_mxnet(*memory_source(R"js({"traceEvents":[{"ph":"B","name":"a","pid":0,"tid":7,"ts":-9e15},
    {"ph":"E","name":"a","pid":0,"tid":7,"ts":9e15}]})js"),
               mxnet);
  EXPECT_TRUE(mxnet.empty());
  EXPECT_THAT(place_of_fault(mxnet, "beyond the range of time"), StartsWith("1 byte "));
}

TEST_F(Hostile, IgnoresARankThatOverflows) {
  const Trace trace =
      testing_import::kineto(cat("{\"distributedInfo\":{\"rank\":1e30},\"traceEvents\":[", kEvent, "]}"));
  EXPECT_EQ(trace.tracks()[0].rank, 0);
}

TEST_F(Hostile, LongPropertiesArePassedOver) {
  const std::string json = cat("{\"frames\": [\"", std::string(3 << 20, 'x'), "\"], \"n\": ", std::string(2 << 20, '1'),
                               ", \"traceEvents\": [", kEvent, "], \"rank\": 1}");
  const Trace trace = testing_import::kineto(json);
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_THAT(place_of_fault(trace, "properties too long"), AllOf(StartsWith("2 byte 11"), HasSubstr("'frames'")));
  EXPECT_EQ(trace.facts.size(), 1u);
  EXPECT_THAT(place_of_fault(testing_import::kineto(json.substr(0, 1 << 21)), "ends early"), HasSubstr("cut off"));
}

TEST_F(Hostile, UnboundedPropertiesUseBoundedMemory) {
  std::string json = "{";
  for (int i = 0; json.size() < 24u << 20; ++i) json += cat("\"key", i, "\":", i, ",");
  json += "\"traceEvents\":[]}";
  const PeakMemory memory;
  const Trace trace = testing_import::kineto(json);
  memory.expect_growth_within(16);
  EXPECT_NE(place_of_fault(trace, "properties too long"), "");
}

TEST_F(Hostile, RejectsGzipThatExpandsBeyondLimit) {
  std::string bomb = gzip(cat("[", std::string(32 << 20, ' ')));
  for (int i = 0; i < 5; ++i) bomb += gzip(std::string(32 << 20, ' '));  // several members
  write_file(path("bomb.json.gz"), bomb);
  const PeakMemory memory;
  EXPECT_THAT(refused("bomb.json.gz", bomb), AllOf(HasSubstr("byte "), HasSubstr("300-fold")));
  memory.expect_growth_within(16);
}

// An honest trace of one kernel over and over packs about as well as any does.
TEST_F(Hostile, AcceptsHighlyCompressibleTraces) {
  std::string json = "[";
  for (int i = 0; json.size() < 70u << 20; ++i)
    json +=
        cat(R"js({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)js", i * 7, R"js(,"dur":5,"args":{}},)js");
  const std::string packed = gzip(json);
  EXPECT_GT(json.size(), 15 * packed.size());
  EXPECT_EQ(place_of_fault(testing_import::kineto(packed), "malformed"), "");
}

// What is imported to a file is held a chunk at a time.
TEST_F(Hostile, ImportToAFileUsesBoundedMemory) {
  int64_t bytes = 0;
  {
    std::ofstream out(path("big.json"), std::ios::binary);
    out << "{\"traceEvents\":[\n";
    for (int i = 0; bytes < 96 << 20; ++i) {
      const std::string event =
          cat(R"js({"ph":"X","cat":"kernel","name":"k)js", i % 50, R"js(","pid":0,"tid":7,"ts":)js", i,
              R"js(,"dur":0.5,"args":{"correlation":)js", i + 1, R"js(,"grid":[)js", i % 64, ",1,1]}},\n");
      out << event;
      bytes += static_cast<int64_t>(event.size());
    }
    out << kEvent << "]}";
  }
  const PeakMemory memory;
  TraceWriter writer(path("big.tbdt"));
  import_trace(path("big.json"), writer.trace());
  writer.finish();
  memory.expect_growth_within(24);
  EXPECT_GT(bytes >> 20, 90);
}

TEST_F(Hostile, RejectsLargeCountsWithoutAllocating) {
  const PeakMemory memory;
  for (const uint64_t count : {uint64_t{1} << 20, uint64_t{1} << 30, UINT64_MAX}) {
    Trace trace;
    ByteWriter bytes;
    bytes.varint(count);
    EXPECT_THROW(decode_events(bytes.take() + std::string(100, '\0'), trace), Error);
    ByteWriter dictionary;
    dictionary.varint(0);
    dictionary.varint(count);
    EXPECT_THROW(decode_dictionary(dictionary.take() + std::string(100, '\0'), trace), Error);
  }
  memory.expect_growth_within(4);
}

TEST_F(Hostile, StopsAtABlockShorterThanItsHeader) {
  TraceWriter(path("a.tbdt")).finish();
  const std::string head = read_file(path("a.tbdt")).substr(0, kFileHeader);
  write_file(path("a.tbdt"), head + encode_block(kEvents, "\xff\xff\x7f", {}));
  const Trace trace = read_trace(path("a.tbdt"));
  EXPECT_TRUE(trace.empty());
  EXPECT_THAT(place_of_fault(trace, "bytes lost"), HasSubstr("a count of"));
}

TEST_F(Hostile, DeepNestingDoesNotOverflowTheStack) {
  for (const char open : {'[', '{'}) {
    const std::string deep(200000, open);
    const std::string text = open == '{' ? cat("{\"a\":", std::string(3, '{')) : deep;
    EXPECT_NO_THROW(testing_import::kineto(cat("{\"a\":", text, ",\"traceEvents\":[", kEvent, "]}")));
    EXPECT_NO_THROW(testing_import::kineto(cat("{\"distributedInfo\":", deep, "}")));
  }
  std::string closed = cat(std::string(5000, '['), std::string(5000, ']'));
  const Trace trace = testing_import::kineto(cat("{\"distributedInfo\":", closed, ",\"traceEvents\":[", kEvent, "]}"));
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_NE(place_of_fault(trace, "no rank"), "");
}

TEST_F(Hostile, ValidatesMllogLinesIndependently) {
  const Mllog log =
      read_mllog(*memory_source(cat(":::MLLOG {\"key\": \"a\"}\n", ":::MLLOG ", std::string(200000, '['),
                                    "}\n:::MLLOG {\"key\": 5}\n:::MLLOG\n:::MLLOG {\"key\": \"caf\xe9\"}")));
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.malformed, 3);
  EXPECT_THAT(log.first_malformed, StartsWith("line 2: "));
  EXPECT_EQ(read_mllog(*memory_source(":::MLLOG {\"key\": \"a\", \"time_ms\": 1e30}")).events[0].time_ms, 0);
}

}  // namespace
}  // namespace tbd
