#include "trace/file.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/files.h"
#include "trace/codec.h"

namespace tbd {
namespace {

using testing::HasSubstr;

class TraceFile : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "trace.tbdt"; }

 private:
  TemporaryFolder folder_;
};

// What a step of a network on a device leaves: ops with shapes, their calls, kernels that start later, memory.
void add_step(Trace& trace, std::mt19937_64& random, int64_t& now) {
  const TrackId host = trace.track({.process = 4242, .thread = 4243, .name = trace.string("main")});
  const TrackId stream = trace.track({.place = Track::Place::device, .device = 0, .process = 4242, .thread = 7});
  const auto some = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  static uint32_t link = 0;
  for (int node = 0; node < 200; ++node) {
    const int64_t begin = now += some(500, 3000);
    const StringId name = trace.string(cat("aten::op", node % 17)),
                   kernel = trace.string(cat("void kernel_", node % 23));
    const OpDetail op{.node = trace.string(cat("layer", node, ".conv")),
                      .shapes = trace.string(cat("[[", node, ",8]]"))};
    trace.add({begin, some(8000, 30000), name, link_of_sequence(node), trace.detail(op), host, EventKind::op});
    ++link;
    trace.add({begin + some(1000, 2000), some(2000, 4000), trace.string("cudaLaunchKernel"), link, kNoDetail, host,
               EventKind::api});
    const KernelDetail launch{.grid = {static_cast<uint32_t>(node) * 4, 1, 1}, .block = {256, 1, 1}};
    trace.add(
        {begin + some(9000, 90000), some(2000, 400000), kernel, link, trace.detail(launch), stream, EventKind::kernel});
    const MemoryDetail block{.address = 0x7f0000000000u + static_cast<uint64_t>(node) * 4096, .bytes = node * 512};
    trace.add({begin + 500, 0, trace.string("[memory]"), 0, trace.detail(block), host, EventKind::alloc});
    now = begin + 30000;
  }
}

Trace steps(int count) {
  Trace trace;
  std::mt19937_64 random(1);
  int64_t now = INT64_C(1700000000000000000);
  for (int i = 0; i < count; ++i) add_step(trace, random, now);
  return trace;
}

void write(const std::filesystem::path& path, const Trace& trace) {
  TraceWriter writer(path);
  Trace& out = writer.trace();
  for (const Track& track : trace.tracks()) {
    Track same = track;
    same.name = out.string(trace.strings()[track.name]);
    out.track(same);
  }
  for (StringId id = 0; id < trace.strings().size(); ++id) out.string(trace.strings()[id]);
  for (size_t i = 0; i < trace.size(); ++i) {
    Event event = trace[i];
    event.name = out.string(trace.name(i));
    event.detail = kNoDetail;
    out.add(event);
  }
  writer.finish();
}

TEST_F(TraceFile, ReadsBackWhatWasWritten) {
  TraceWriter writer(path());
  Trace& out = writer.trace();
  out.base_epoch_ns = 123;
  out.facts["framework"] = "pytorch";
  std::mt19937_64 random(7);
  int64_t now = -5;
  for (int i = 0; i < 100; ++i) add_step(out, random, now);  // more than one chunk
  out.fault("clock ran backwards", "event 5", 3);
  writer.finish();
  random.seed(7);
  now = -5;
  Trace expected;
  for (int i = 0; i < 100; ++i) add_step(expected, random, now);

  const Trace trace = read_trace(path());
  EXPECT_EQ(trace.base_epoch_ns, 123);
  EXPECT_EQ(trace.facts.at("framework"), "pytorch");
  ASSERT_EQ(trace.faults().size(), 1u);
  EXPECT_EQ(trace.faults()[0], (Fault{"clock ran backwards", 3, "event 5"}));
  ASSERT_EQ(trace.size(), expected.size());
  ASSERT_GT(trace.size(), kChunkEvents);
  for (size_t i = 0; i < trace.size(); ++i) {
    ASSERT_EQ(trace[i].begin, expected[i].begin);
    ASSERT_EQ(trace[i].duration, expected[i].duration);
    ASSERT_EQ(trace.name(i), expected.name(i));
    ASSERT_EQ(trace[i].kind, expected[i].kind);
    if (trace[i].kind == EventKind::kernel) {
      ASSERT_EQ(*trace.detail_of<KernelDetail>(i), *expected.detail_of<KernelDetail>(i));
    }
    if (trace[i].kind == EventKind::alloc) {
      ASSERT_EQ(*trace.detail_of<MemoryDetail>(i), *expected.detail_of<MemoryDetail>(i));
    }
  }
}

TEST_F(TraceFile, TakesAtMostTwelveBytesAnEvent) {
  TraceWriter writer(path());
  std::mt19937_64 random(1);
  int64_t now = 0, events = 0;
  for (int i = 0; i < 300; ++i) {
    add_step(writer.trace(), random, now);
    events += 800;
  }
  writer.finish();
  EXPECT_LE(static_cast<double>(std::filesystem::file_size(path())) / static_cast<double>(events), 12.0);
}

TEST_F(TraceFile, AnEventTakesAtMostThirtyTwoBytesInMemory) {
  Trace trace = steps(300);
  trace.shrink();
  size_t details = 0;
  trace.details().for_each([&](const auto& table) { details += table.memory_bytes(); });
  EXPECT_LE(trace.memory_bytes() - details - trace.strings().bytes() - trace.strings().size() * 32, trace.size() * 32);
}

TEST_F(TraceFile, HoldsOneChunkAtATime) {
  write(path(), steps(200));
  TraceReader reader(path());
  Trace trace;
  size_t events = 0;
  while (reader.next(trace)) {
    EXPECT_LE(trace.size(), kChunkEvents);
    events += trace.size();
    trace.clear_events();
  }
  EXPECT_EQ(events, 160000u);
}

TEST_F(TraceFile, IndexNamesEveryChunkByTime) {
  write(path(), steps(200));
  const auto index = read_index(path());
  ASSERT_TRUE(index);
  ASSERT_EQ(index->size(), 3u);
  EXPECT_EQ((*index)[0].events, static_cast<int64_t>(kChunkEvents));
  EXPECT_LE((*index)[0].begin, (*index)[1].begin);
  EXPECT_GT((*index)[2].end, (*index)[1].begin);
}

TEST_F(TraceFile, TruncatedTailLosesOnlyTheLastBlock) {
  write(path(), steps(200));
  const std::string whole = read_file(path());
  const auto index = *read_index(path());
  for (const int64_t size : {index[1].offset, index[1].offset + 20, index[2].offset - 1}) {
    write_file(path(), whole.substr(0, static_cast<size_t>(size)));
    const Trace trace = read_trace(path());
    EXPECT_EQ(trace.size(), kChunkEvents) << size;
    ASSERT_EQ(trace.faults().size(), 1u);
    EXPECT_EQ(trace.faults()[0].count, size - index[1].offset);
    EXPECT_FALSE(read_index(path()));
  }
}

TEST_F(TraceFile, ADamagedBlockEndsTheTraceBeforeIt) {
  write(path(), steps(200));
  std::string bytes = read_file(path());
  bytes[static_cast<size_t>((*read_index(path()))[2].offset) + 1000] ^= 1;
  write_file(path(), bytes);
  const Trace trace = read_trace(path());
  EXPECT_EQ(trace.size(), 2 * kChunkEvents);
  ASSERT_EQ(trace.faults().size(), 1u);
  EXPECT_THAT(trace.faults()[0].first, HasSubstr("checksum"));
}

TEST_F(TraceFile, AnEmptyTraceIsAFile) {
  TraceWriter(path()).finish();
  EXPECT_TRUE(read_trace(path()).empty());
  EXPECT_TRUE(read_trace(path()).faults().empty());
}

TEST_F(TraceFile, RefusesWhatIsNoTraceOrNewer) {
  EXPECT_THROW(read_trace(path()), Error);
  write_file(path(), "{\"traceEvents\": []}");
  EXPECT_THROW(read_trace(path()), Error);
  write_file(path(), std::string("TBDTRACE\x02\0\0\0\0\0\0\0", 16));
  EXPECT_THROW(read_trace(path()), Error);
}

TEST_F(TraceFile, HostileBlocksAreRefused) {
  std::mt19937_64 random(3);
  const std::string good = encode_events(steps(1));
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good.substr(0, i % 2 ? good.size() : random() % good.size());
    if (!bad.empty()) bad[random() % bad.size()] = static_cast<char>(random());
    Trace trace;
    try {
      decode_events(bad, trace);
    } catch (const Error&) {
    }
  }
}

TEST(Codec, IntegersReadBack) {
  const int64_t values[] = {0, 1, -1, 127, 128, -129, INT64_MAX, INT64_MIN};
  ByteWriter out;
  for (const int64_t value : values) out.signed_varint(value);
  const std::string bytes = out.take();
  ByteReader in(bytes);
  for (const int64_t value : values) EXPECT_EQ(in.signed_varint(), value);
  EXPECT_TRUE(in.at_end());
  EXPECT_THROW(in.varint(), Error);
  EXPECT_THROW(ByteReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02").varint(), Error);
}

TEST(Codec, IntegersOfEveryLengthReadBack) {
  ByteWriter out;
  std::vector<uint64_t> values;
  for (int bit = 0; bit < 64; ++bit)
    for (const uint64_t value : {uint64_t{1} << bit, (uint64_t{1} << bit) - 1, ~uint64_t{0} >> bit}) {
      values.push_back(value);
      out.varint(value);
    }
  const std::string bytes = out.take();
  ByteReader in(bytes);
  for (const uint64_t value : values) ASSERT_EQ(in.varint(), value);
  EXPECT_TRUE(in.at_end());
}

}  // namespace
}  // namespace tbd
