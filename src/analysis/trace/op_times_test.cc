// Whose time it is where ops call ops, and where the processor is the device.
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "analysis/trace/rank_analysis.h"
#include "base/files.h"
#include "base/text.h"
#include "trace/import/import.h"

namespace tbd {
namespace {

class Ops {
 public:
  Trace trace;
  TrackId host = trace.track({.process = 1, .thread = 1});

  void add(std::string_view name, int64_t begin, int64_t end) {
    trace.add({.begin = begin, .duration = end - begin, .name = trace.string(name), .track = host});
  }
  RankAnalysis analysis(TraceWindow window = TraceWindow::trace) const {
    RankAnalysis a = analyze_rank(trace, 0, window);
    EXPECT_EQ(a.masks.window(), a.window.length());
    EXPECT_EQ(total(a.causes), a.masks.idle());
    return a;
  }
};

int64_t cause_of(const RankAnalysis& a, IdleCause cause) { return a.causes[static_cast<size_t>(cause)]; }

using Times = std::map<std::string, int64_t>;  // by name

void add_to(Times& times, const std::vector<KernelGroup>& groups) {
  for (const KernelGroup& group : groups) times[group.name] += group.total_ns;
}
Times times_of(const std::vector<KernelGroup>& groups) {
  Times times;
  add_to(times, groups);
  return times;
}

TEST(OpTimes, NestedOpsAreCountedOnce) {
  Ops ops;
  ops.add("aten::conv2d", 0, 100);
  ops.add("aten::convolution", 10, 90);
  ops.add("aten::empty", 20, 25);
  ops.add("aten::copy_", 110, 130);
  const RankAnalysis a = ops.analysis(TraceWindow::activity);
  EXPECT_FALSE(a.on_device);
  EXPECT_EQ(a.window, (TimeSpan{10, 130}));
  EXPECT_EQ(a.masks.busy(bit(DeviceClass::compute)), 75) << "a wrapper in which nothing works is the work";
  EXPECT_EQ(a.masks.busy(bit(DeviceClass::layout)), 20);
  EXPECT_EQ(cause_of(a, IdleCause::dispatch), 5 + 10);
  EXPECT_EQ(cause_of(a, IdleCause::host_other), 10);
  EXPECT_EQ(times_of(a.dispatch), (Times{{"aten::conv2d", 10}, {"aten::empty", 5}}))
      << "of conv2d what begins in the window";
}

TEST(OpTimes, SeparatesComputeFromDispatchInNestedOps) {
  Ops ops;
  ops.add("ConvolutionBackward0", 0, 100);
  ops.add("aten::convolution_backward", 5, 95);
  ops.add("aten::copy_", 10, 20);
  ops.add("aten::empty", 30, 31);
  const RankAnalysis a = ops.analysis();
  EXPECT_EQ(a.masks.busy(), 89);
  EXPECT_EQ(cause_of(a, IdleCause::dispatch), 5 + 1) << "the function around it computes nothing";
  EXPECT_EQ(times_of(a.kernels), (Times{{"aten::convolution_backward", 79}, {"aten::copy_", 10}}));
  EXPECT_EQ(a.kernels[0].count, 1);
  EXPECT_EQ(a.streams.front().activities, 2) << "stretches of one op are one";
}

TEST(OpTimes, CountsAnOpThatConvertsAScalarAsCompute) {
  Ops ops;
  ops.add("aten::div", 0, 100);
  ops.add("aten::to", 5, 15);
  ops.add("aten::_to_copy", 6, 14);
  ops.add("aten::copy_", 8, 12);
  const RankAnalysis a = ops.analysis();
  EXPECT_EQ(times_of(a.kernels), (Times{{"aten::div", 90}, {"aten::copy_", 4}}));
  EXPECT_EQ(times_of(a.dispatch), (Times{{"aten::_to_copy", 4}, {"aten::to", 2}}));
}

TEST(OpTimes, CountsNestedOpsOfTheSameNameAsTwo) {
  Ops ops;
  ops.add("aten::where", 0, 100);
  ops.add("aten::where", 10, 60);
  ops.add("aten::expand", 20, 30);
  const RankAnalysis a = ops.analysis();
  ASSERT_EQ(a.kernels.size(), 1u);
  EXPECT_EQ(a.kernels[0].count, 2);
  EXPECT_EQ(a.kernels[0].total_ns, 90);
}

TEST(OpTimes, FlattensDeepNestingInLinearTime) {
  constexpr int64_t kOps = 200'000;
  Ops ops;
  for (int64_t i = 0; i < kOps; ++i) ops.add("aten::mm", i, 2 * kOps - i);
  const auto began = std::chrono::steady_clock::now();
  const RankAnalysis a = ops.analysis();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_EQ(a.masks.busy(), 2 * kOps);
  ASSERT_EQ(a.kernels.size(), 1u);
  EXPECT_EQ(a.kernels[0].count, kOps);
}

// One training step under torch.profiler (PyTorch 2.15) of Conv2d, BatchNorm2d, ReLU, AdaptiveAvgPool2d, Linear, LSTM,
// cross entropy, where, div and mul by scalars, softmax, std and var with SGD; events without their arguments. The
// table is key_averages() of the same run: self_cpu_time_total in ns, annotations left out.
TEST(OpTimes, MatchTorchProfilerSelfTimes) {
  const std::string golden = TBD_SOURCE_DIR "/src/analysis/trace/golden/";
  Trace trace;
  import_trace(golden + "torch_cpu.json", trace);
  const RankAnalysis a = analyze_rank(trace, 0, TraceWindow::trace);
  Times times = times_of(a.kernels), expected;
  add_to(times, a.dispatch);
  for (const std::string& row : split(trim(read_file(golden + "torch_cpu.key_averages.txt")), '\n')) {
    const size_t blank = row.find(' ');
    expected[row.substr(blank + 1)] = parse_int(row.substr(0, blank)).value();
  }
  EXPECT_EQ(times, expected);
  for (const char* name : {"aten::div", "aten::mul", "aten::std", "aten::var", "aten::sum", "aten::where"})
    EXPECT_TRUE(times_of(a.kernels).contains(name)) << name;
}

}  // namespace
}  // namespace tbd
