// Rows of TensorFlow's profiler of devices, made by hand as FULL_TRACE lays them out: microseconds of the wall clock.
#include "backends/tensorflow/device_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/tensorflow/memory_blocks.h"
#include "backends/tensorflow/op_trace.h"
#include "backends/tensorflow/wire.h"

namespace tbd::tensorflow {
namespace {

using testing::ElementsAre;

constexpr int64_t kWallUs = 1'700'000'000'000'000, kOwnNs = 5'000'000'000;  // the begin of the run by both clocks

struct Row {
  std::string name, label;
  int64_t at_us = 0, took_us = 0;  // from the begin of the run
  std::string memory = {};         // AllocatorMemoryUsed
  std::string output = {};         // NodeOutput
};

WireMessage message_of(const Row& row) {
  WireMessage out;
  out.text(1, row.name).integer(2, kWallUs + row.at_us).integer(3, 0).integer(4, row.took_us);
  if (!row.memory.empty()) out.text(6, row.memory);
  if (!row.output.empty()) out.text(7, row.output);
  return out.text(8, row.label);
}

// A DeviceStepStats.
WireMessage device(const std::string& name, const std::vector<Row>& rows) {
  WireMessage out;
  out.text(1, name);
  for (const Row& row : rows) out.message(2, message_of(row));
  return out;
}

RunRecord run_of(const std::vector<WireMessage>& devices) {
  WireMessage statistics;
  for (const WireMessage& each : devices) statistics.message(1, each);
  return {.before = {kWallUs * 1000, kOwnNs, 40},
          .after = {(kWallUs + 1000) * 1000, kOwnNs + 1'000'000, 40},
          .metadata = WireMessage().message(1, statistics).bytes(),
          .on_gpu = true};
}

// Of a graph with a square of node 0 in forward and a negation of node 1 in backward.
class DeviceTrace : public testing::Test {
 protected:
  DeviceTrace() {
    const TF_Output x = graph_.placeholder(DType::f32, {4});
    origins_.claim(-1, EventPhase::unknown);
    square_ = TF_OperationName(graph_.op("Square").in(x).out().oper);
    origins_.claim(0, EventPhase::forward);
    negative_ = TF_OperationName(graph_.op("Neg").in(x).out().oper);
    origins_.claim(1, EventPhase::backward);
  }

  Trace trace_of(const RunRecord& run) const {
    Trace trace;
    append_ops(run, origins_, nodes_, trace);
    return trace;
  }
  static std::string text(const Trace& trace, StringId id) { return std::string(trace.strings()[id]); }

  TfGraph graph_;
  OpOrigins origins_{graph_};
  std::vector<std::string> nodes_ = {"conv1", "conv2"};
  std::string square_, negative_;
};

TEST_F(DeviceTrace, KernelsHaveNodePhaseAndStart) {
  const std::string kernel = "void cutlass::Kernel<float, 4>(Params)";
  const Row of_square = {square_ + ":Square",
                         kernel +
                             " regs:96 static_shared:16 dynamic_shared:48 grid:10,2,1 "
                             "block:256,1,3 occ_pct:50",
                         100, 30};
  const Row of_negative = {negative_ + ":Neg", "neg regs:8 static_shared:0 dynamic_shared:0 grid:1,1,1 block:32,1,1",
                           140, 5};
  const Row of_nobody = {"fill", "fill regs:8 static_shared:0 dynamic_shared:0 grid:1,1,1 block:32,1,1 occ_pct:100",
                         150, 2};
  const Trace trace = trace_of(run_of({device("/device:GPU:0/stream:13", {of_square, of_negative, of_nobody}),
                                       device("/device:GPU:0/stream:all", {of_square, of_negative, of_nobody})}));
  ASSERT_EQ(trace.size(), 3u) << "stream:all repeats the rows of streams";
  const Event event = trace[0];
  EXPECT_EQ(event.kind, EventKind::kernel);
  EXPECT_EQ(event.phase, EventPhase::forward);
  EXPECT_EQ(text(trace, event.name), kernel);
  EXPECT_EQ(event.begin, kOwnNs + 100'000);
  EXPECT_EQ(event.duration, 30'000);
  const KernelDetail& detail = *trace.detail_of<KernelDetail>(0);
  EXPECT_EQ(text(trace, detail.node), "conv1");
  EXPECT_THAT(detail.grid, ElementsAre(10, 2, 1));
  EXPECT_THAT(detail.block, ElementsAre(256, 1, 3));
  EXPECT_EQ(detail.registers, 96u);
  EXPECT_EQ(detail.shared, 64);
  const Track& track = trace.tracks()[event.track];
  EXPECT_EQ(track.place, Track::Place::device);
  EXPECT_EQ(track.thread, 13);
  EXPECT_EQ(trace[1].phase, EventPhase::backward);
  EXPECT_EQ(text(trace, trace.detail_of<KernelDetail>(1)->node), "conv2");
  EXPECT_EQ(trace[2].phase, EventPhase::unknown);
  EXPECT_EQ(trace.detail_of<KernelDetail>(2)->node, 0u);
  EXPECT_THAT(trace.facts.at("kernel clock"), testing::HasSubstr("microseconds"));
  EXPECT_TRUE(trace.faults().empty());
}

TEST_F(DeviceTrace, CopiesFillsAndWaitsAreToldApart) {
  const Row kernel = {"k", "k regs:8 static_shared:0 dynamic_shared:0 grid:1,1,1 block:32,1,1", 1, 1};
  const Row copy = {"MemcpyH2D", "MemcpyH2D kind_src:pinned kind_dst:device size:4096 dest:0 async:1", 10, 2};
  const Row fill = {"Memset", "Memset", 20, 1};
  const Row wait = {"cuStreamSynchronize", "ThreadId 77", 30, 40};
  const Trace trace =
      trace_of(run_of({device("/device:GPU:1/stream:7", {kernel}), device("/device:GPU:1/stream:15<MemcpyH2D>", {copy}),
                       device("/device:GPU:1/memcpy", {copy}), device("/device:GPU:1/stream:", {fill}),
                       device("/device:GPU:1/sync", {wait})}));
  ASSERT_EQ(trace.size(), 4u);
  EXPECT_EQ(trace[1].kind, EventKind::memcpy);
  EXPECT_EQ(trace.detail_of<CopyDetail>(1)->bytes, 4096);
  EXPECT_EQ(trace.detail_of<CopyDetail>(1)->direction, CopyDirection::to_device);
  EXPECT_EQ(trace.tracks()[trace[1].track].thread, 15);
  EXPECT_EQ(trace.tracks()[trace[1].track].device, 1);
  EXPECT_EQ(trace[2].kind, EventKind::memset);
  EXPECT_EQ(trace[3].kind, EventKind::sync);
  EXPECT_EQ(trace[3].duration, 40'000);
  EXPECT_EQ(trace.tracks()[trace[3].track].place, Track::Place::host);
}

TEST_F(DeviceTrace, OpsOfTheExecutorStayOnTheHost) {
  const Row op = {square_, square_ + " = Square(x)", 50, 10};
  const Row kernel = {square_ + ":Square", "k regs:8 static_shared:0 dynamic_shared:0 grid:1,1,1 block:32,1,1", 60, 9};
  const Trace trace = trace_of(run_of(
      {device("/job:localhost/replica:0/task:0/device:GPU:0", {op}), device("/device:GPU:0/stream:7", {kernel})}));
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace[0].kind, EventKind::op);
  EXPECT_EQ(trace.tracks()[trace[0].track].place, Track::Place::host);
  EXPECT_EQ(trace[1].kind, EventKind::kernel);
}

TEST_F(DeviceTrace, AGpuWithoutAKernelIsAFault) {
  const RunRecord run = run_of({device("/job:localhost/replica:0/task:0/device:GPU:0", {{square_, "", 50, 10}})});
  const Trace trace = trace_of(run);
  ASSERT_EQ(trace.faults().size(), 1u);
  EXPECT_THAT(trace.faults()[0].what, testing::HasSubstr("no kernel"));
}

// AllocatorMemoryUsed: its name, and records of what was taken and given back.
std::string memory_of(const std::string& allocator, const std::vector<std::pair<int64_t, int64_t>>& records,
                      int64_t in_use) {
  WireMessage out;
  out.text(1, allocator).integer(5, in_use);
  for (const auto& [at_us, bytes] : records)
    out.message(6, WireMessage().integer(1, kWallUs + at_us).integer(2, bytes));
  return out.bytes();
}

TEST_F(DeviceTrace, BlocksAreThoseOfTheGpusAllocator) {
  Row on_gpu = {square_, square_ + " = Square(x)", 50, 10};
  on_gpu.memory = memory_of("GPU_0_bfc", {{51, 1024}, {52, 4096}, {55, -4096}}, 77'000);
  on_gpu.output =
      WireMessage()
          .integer(1, 0)
          .message(3, WireMessage().integer(1, 1).message(
                          4, WireMessage().integer(1, 1024).text(3, "GPU_0_bfc").integer(4, 1).integer(6, 9)))
          .bytes();
  Row on_host = {negative_, negative_ + " = Neg(x)", 70, 10};
  on_host.memory = memory_of("gpu_host_bfc", {{71, 512}}, 88'000);
  const RunRecord run = run_of({device("/job:localhost/replica:0/task:0/device:GPU:0", {on_gpu, on_host})});
  const OwnClock clock(run);
  const RunBlocks blocks = blocks_of(ran_ops(run, clock), origins_, clock, Blocks::of_gpu);
  ASSERT_EQ(blocks.blocks.size(), 2u);
  EXPECT_EQ(blocks.blocks[0].bytes, 1024);
  EXPECT_EQ(blocks.blocks[0].node, 0);
  EXPECT_EQ(blocks.blocks[1].kind, MemoryClass::workspace) << "the convolution's scratch";
  EXPECT_EQ(blocks.blocks[1].freed, kOwnNs + 55'000);
  EXPECT_EQ(blocks.counted, 77'000);
  EXPECT_EQ(blocks_of(ran_ops(run, clock), origins_, clock).blocks.size(), 1u) << "the host's";
}

}  // namespace
}  // namespace tbd::tensorflow
