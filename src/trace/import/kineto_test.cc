#include "trace/import/kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/json_window.h"
#include "base/text.h"
#include "trace/import/decimal.h"
#include "trace/import/repair.h"
#include "trace/import/testing_import.h"

namespace tbd {
namespace {

using testing::HasSubstr;
using testing_import::gzip;

int64_t faults(const Trace& trace, std::string_view what) {
  const Fault* found = testing_import::fault(trace, what);
  return found ? found->count : 0;
}

constexpr std::string_view kKernel = R"js({
    "ph": "X", "cat": "kernel", "name": "void gemm<float>(int, {x})",
                           "pid" : 0, "tid" : 7, "ts" : 1000.125, "dur" : 12.500, "args" : {
  "External id" : 5, "device" : 0, "context" : 1, "stream" : 7, "correlation" : 33, "registers per thread" : 64,
      "shared memory" : 1024, "grid" : [ 2, 3, 4 ], "block" : [ 128, 1, 1 ]
}
})js";
constexpr std::string_view kLaunch =
    R"js({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": 990, "dur": 4.001,
    "args": {"External id": 5, "correlation": 33}})js";

std::string file_of(std::span<const std::string> events, std::string_view more = "") {
  return cat("{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n  ", join(events, ",\n  "), "\n  ]", more, "\n}\n");
}

TEST(Kineto, ReadsAKernelAndItsLaunch) {
  const std::string events[] = {std::string(kKernel), std::string(kLaunch)};
  const Trace trace = testing_import::kineto(file_of(events, R"js(, "baseTimeNanoseconds": 1700000000000000000,
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8})js"));
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace.base_epoch_ns, 1700000000000000000);
  const Event kernel = trace[0];
  EXPECT_EQ(kernel.kind, EventKind::kernel);
  EXPECT_EQ(kernel.begin, 1000125);
  EXPECT_EQ(kernel.duration, 12500);
  EXPECT_EQ(kernel.link, 33u);
  EXPECT_EQ(trace.name(0), "void gemm<float>(int, {x})");
  const Track& stream = trace.tracks()[kernel.track];
  EXPECT_EQ(stream.place, Track::Place::device);
  EXPECT_EQ(stream.thread, 7);
  EXPECT_EQ(stream.rank, 3);
  const KernelDetail& detail = *trace.detail_of<KernelDetail>(0);
  EXPECT_EQ(detail.grid, (std::array<uint32_t, 3>{2, 3, 4}));
  EXPECT_EQ(detail.block[0], 128u);
  EXPECT_EQ(detail.registers, 64u);
  EXPECT_EQ(detail.shared, 1024);
  EXPECT_EQ(trace[1].kind, EventKind::api);
  EXPECT_EQ(trace[1].duration, 4001);
  EXPECT_TRUE(trace.faults().empty());
}

TEST(Kineto, ReadsOpsWithShapesAndSequenceNumbers) {
  const Trace trace = testing_import::kineto(R"js({"traceEvents": [
    {"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":2,"ts":1,"dur":2,
     "args":{"Sequence number":0,"Fwd thread id":0,"Input Dims":[[8, 3], []],"Input type":["float","Scalar"]}},
    {"ph":"X","cat":"cpu_op","name":"AddBackward0","pid":1,"tid":3,"ts":5,"dur":2,
     "args":{"Sequence number":0,"Fwd thread id":1}},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":1,"tid":2,"ts":0,"dur":20}]})js");
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace[0].kind, EventKind::op);
  EXPECT_EQ(trace[0].link, 1u);
  EXPECT_EQ(trace.strings()[trace.detail_of<OpDetail>(0)->shapes], "[[8,3],[]]");
  EXPECT_EQ(trace[1].kind, EventKind::backward_op);
  EXPECT_EQ(trace[1].link, 1u);
  EXPECT_EQ(trace[2].kind, EventKind::step);
}

TEST(Kineto, ReadsMemoryAsPositiveBytes) {
  const Trace trace = testing_import::kineto(R"js({"traceEvents": [
    {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":1.5,"args":{"Total Allocated":512,"Addr":140737488355328,
     "Bytes":512,"Device Type":1,"Device Id":2,"Ev Idx":1}},
    {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":2.5,"args":{"Addr":140737488355328,"Bytes":-512}}]})js");
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace[0].kind, EventKind::alloc);
  EXPECT_EQ(trace[1].kind, EventKind::free);
  EXPECT_EQ(trace.detail_of<MemoryDetail>(0)->device, 2);
  EXPECT_EQ(trace.detail_of<MemoryDetail>(1)->bytes, 512);
}

TEST(Kineto, EpochStampsKeepEveryNanosecond) {
  const Trace trace = testing_import::kineto(
      R"js({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1700000000123456.789,"dur":0.001}]})js");
  EXPECT_EQ(trace[0].begin, 1700000000123456789);
  EXPECT_EQ(trace[0].duration, 1);
}

TEST(Kineto, WhatCannotBeUsedIsCounted) {
  const Trace trace = testing_import::kineto(R"js({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":-1},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":0,"dur":0},
    {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":NaN,"dur":1},
    {"ph":"X","cat":"kernel","name":"zero length","pid":0,"tid":7,"ts":5,"dur":0},
    {"ph":"Z","name":"d","pid":0,"tid":7,"ts":5},
    {"ph":"s","id":3,"pid":0,"tid":7,"ts":5,"cat":"ac2g","name":"ac2g"}]})js");
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_EQ(faults(trace, "negative durations"), 1);
  EXPECT_EQ(faults(trace, "zero stamps"), 1);
  EXPECT_EQ(faults(trace, "without a time"), 1);
  EXPECT_EQ(faults(trace, "a kind that is not read"), 1);
}

TEST(Kineto, TracksMayBeNamedByText) {
  const Trace trace = testing_import::kineto(R"js({"traceEvents":[
    {"ph":"X","cat":"Kernel","name":"k","pid":"GPU 1","tid":"stream 7","ts":5,"dur":1},
    {"ph":"X","cat":"Operator","name":"o","pid":"python","tid":"thread (main)","ts":5,"dur":1},
    {"ph":"M","name":"thread_name","pid":"python","tid":"thread (main)","args":{"name":"main"}}]
})js");
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace.tracks()[trace[0].track].device, 1);
  EXPECT_EQ(trace.tracks()[trace[0].track].thread, 7);
  EXPECT_EQ(trace.strings()[trace.tracks()[trace[1].track].name], "main");
}

// Any number of events of any size gives the same, however they fall on the windows.
TEST(Kineto, ManyWindowsLoseNothing) {
  std::vector<std::string> events;
  int64_t bytes = 0;
  for (int i = 0; bytes < 5 * static_cast<int64_t>(JsonWindow::kSize); ++i) {
    const std::string pad(static_cast<size_t>(i * 37 % 1900), i % 3 ? 'x' : '{');
    events.push_back(cat(R"js({"ph":"X","cat":"kernel","name":"},{\"k)js", i % 7, R"js(","pid":0,"tid":7,"ts":)js", i,
                         R"js(,"dur":0.5,"args":{"pad":")js", pad,
                         R"js(","list":[{"a":1}, {"b":"]"}],"correlation":)js", i + 1, "}}"));
    bytes += static_cast<int64_t>(events.back().size());
  }
  const Trace trace = testing_import::kineto(file_of(events));
  EXPECT_TRUE(trace.faults().empty());
  ASSERT_EQ(trace.size(), events.size());
  for (size_t i = 0; i < trace.size(); ++i) {
    ASSERT_EQ(trace[i].begin, static_cast<int64_t>(i) * 1000);
    ASSERT_EQ(trace[i].link, i + 1);
  }
}

TEST(Kineto, IgnoresOtherArraysOfObjects) {
  const std::string events[] = {std::string(kKernel), std::string(kLaunch)};
  const Trace trace =
      testing_import::kineto(file_of(events, R"js(, "deviceProperties": [{"id": 0}, {"id": 1}], "others": [
    {"ph":"X","cat":"kernel","name":"z","pid":0,"tid":7,"ts":1,"dur":1}, {"ph":"X"}])js"));
  EXPECT_EQ(trace.size(), 2u);
  EXPECT_TRUE(trace.faults().empty());
  EXPECT_EQ(trace.facts.at("deviceProperties"), R"js([{"id":0},{"id":1}])js");
}

TEST(Kineto, AcceptsABareEventArray) {
  EXPECT_EQ(testing_import::kineto(cat("[", kKernel, ",", kLaunch, "]")).size(), 2u);
  const Trace open = testing_import::kineto(cat("[", kKernel, ",", kLaunch, ","));
  EXPECT_EQ(open.size(), 2u);
  EXPECT_EQ(faults(open, "ends early"), 1);
}

TEST(Kineto, CutAnywhereKeepsWhatCameBefore) {
  const std::string events[] = {std::string(kLaunch), std::string(kKernel), std::string(kLaunch)};
  const std::string whole = file_of(events, ", \"traceName\": \"x\"");
  for (size_t size = 1; size < whole.size() - 2; ++size) {
    const Trace trace = testing_import::kineto(whole.substr(0, size));
    ASSERT_LE(trace.size(), 3u);
    ASSERT_FALSE(trace.faults().empty()) << size;
  }
}

TEST(Kineto, RepairsNonStrictJson) {
  const std::string bad =
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"tab\there \xff\",\"pid\":0,\"tid\":7,\"ts\":9,\"dur\":1}";
  const std::string events[] = {std::string(kKernel), bad, std::string(kLaunch)};
  const Trace trace = testing_import::kineto(file_of(events));
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace.name(1), "tab\there ?");
  EXPECT_EQ(faults(trace, "repaired"), 1);
}

TEST(Kineto, PassesOverAMalformedEvent) {
  const std::string events[] = {std::string(kKernel), R"js({"ph":"X" "cat":"kernel"})js", std::string(kLaunch)};
  const Trace trace = testing_import::kineto(file_of(events));
  EXPECT_EQ(trace.size(), 2u);
  EXPECT_EQ(faults(trace, "malformed events"), 1);
}

TEST(Kineto, RandomBytesNeverCrash) {
  std::mt19937_64 random(9);
  const std::string events[] = {std::string(kKernel), std::string(kLaunch), std::string(kKernel)};
  const std::string whole = file_of(events, R"js(, "distributedInfo": {"rank": 3}, "x": ["\\u12", {"a": 1}])js");
  constexpr std::string_view kBytes = "{}[]\",:\\0-e\n\xff";
  for (int i = 0; i < 5000; ++i) {
    std::string bad = whole;
    for (int edits = 1 + i % 4; edits > 0; --edits) {
      const size_t at = random() % bad.size();
      if (random() % 3 == 0)
        bad.erase(at, random() % 40);
      else
        bad[std::min(at, bad.size() - 1)] = kBytes[random() % kBytes.size()];
    }
    try {
      EXPECT_LE(testing_import::kineto(i % 8 == 0 ? gzip(bad) : bad).size(), 4u);
    } catch (const Error&) {
    }
  }
}

TEST(Kineto, RefusesWhatIsNoJson) {
  EXPECT_THROW(testing_import::kineto(""), Error);
  EXPECT_THROW(testing_import::kineto("   "), Error);
  EXPECT_THROW(testing_import::kineto("hello"), Error);
  EXPECT_THROW(testing_import::kineto(std::string_view("\xff\xfe{\0", 4)), Error);
  EXPECT_THROW(testing_import::kineto(std::string_view("\0\0\0{", 4)), Error);
}

TEST(Kineto, DeepNestingAndLongEventsEndTheReading) {
  const std::string deep = cat("{\"traceEvents\":[", kKernel, ",{\"args\":", std::string(100000, '['), "]}");
  EXPECT_EQ(testing_import::kineto(deep).size(), 1u);
  const std::string long_one = cat("{\"traceEvents\":[", kKernel, ",{\"name\":\"", std::string(3 << 20, 'x'), "\"}]}");
  const Trace trace = testing_import::kineto(long_one);
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_EQ(faults(trace, "malformed JSON"), 1);
}

TEST(Gzip, SeveralMembersAreOneStream) {
  const std::string events[] = {std::string(kKernel), std::string(kLaunch)};
  const std::string whole = file_of(events);
  EXPECT_EQ(testing_import::kineto(gzip(whole.substr(0, 100)) + gzip(whole.substr(100))).size(), 2u);
}

TEST(Gzip, CutOrDamagedKeepsWhatCameBefore) {
  std::vector<std::string> events(5000, std::string(kLaunch));
  const std::string packed = gzip(file_of(events));
  const Trace cut = testing_import::kineto(packed.substr(0, packed.size() / 2));
  EXPECT_GT(cut.size(), 100u);
  ASSERT_FALSE(cut.faults().empty());
  EXPECT_THAT(cut.faults()[0].first, HasSubstr("gzip stream is cut off"));
}

TEST(Gzip, RejectsGzipThatExpandsBeyondLimit) {
  const std::string bomb = gzip("[" + std::string(200 << 20, ' '));
  EXPECT_THROW(testing_import::kineto(bomb), Error);
}

TEST(Decimal, ScalesToIntegersWithRounding) {
  EXPECT_EQ(scaled_decimal("1234.567", 3), 1234567);
  EXPECT_EQ(scaled_decimal("-0.001", 3), -1);
  EXPECT_EQ(scaled_decimal("5", 3), 5000);
  EXPECT_EQ(scaled_decimal("1.0005", 3), 1001);
  EXPECT_EQ(scaled_decimal("0.0004", 3), 0);
  EXPECT_EQ(scaled_decimal("1.5e3", 3), 1500000);
  EXPECT_EQ(scaled_decimal("15e-4", 3), 2);
  EXPECT_EQ(scaled_decimal("0e999999", 3), 0);
  EXPECT_EQ(scaled_decimal("9223372036854775.807", 3), INT64_MAX);
  EXPECT_EQ(scaled_decimal("9223372036854775.808", 3), std::nullopt);
  EXPECT_EQ(scaled_decimal("1e999999", 3), std::nullopt);
  EXPECT_EQ(scaled_decimal("\"12.5\"", 3), 12500);
  for (const char* bad : {"", "-", ".5", "1.2.3", "nan", "1e", "0x10", "1 "})
    EXPECT_EQ(scaled_decimal(bad, 3), std::nullopt) << bad;
}

TEST(Repair, LeavesStrictJsonAsItIs) {
  const std::string text = R"js({"a": [1, -2.5e3, "NaN \" \\", true, null, "µ"]})js";
  EXPECT_EQ(repaired_json(text), text);
  EXPECT_EQ(repaired_json(R"js([NaN, -Infinity, inf])js"), "[null, null, null]");
}

}  // namespace
}  // namespace tbd
