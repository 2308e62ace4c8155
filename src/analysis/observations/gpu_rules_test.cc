// Rules 4 to 10 on records of GPUs: what holds on a processor must hold there, and no rule speaks of the CPU.
#include <gmock/gmock.h>

#include "analysis/observations/sample_sweeps.h"

namespace tbd {
namespace {

using sample::Results;
using sample::Series;
using testing::HasSubstr;
using testing::Not;

const Device kGpu("cuda:0");
const std::vector<int64_t> kSizes = {4, 8, 16, 32};
const std::vector<double> kGrowing = {10, 18, 25, 28};

// A series on the GPU with these shares by batch, of U and F alike.
Series used(const std::string& model, const std::vector<double>& shares, const std::string& op = "conv2d") {
  return {.model = model,
          .device = kGpu,
          .op = op,
          .batches = kSizes,
          .throughput = kGrowing,
          .u = shares,
          .f = shares,
          .machine_use = 0.1};
}

Observation observed(int number, const std::vector<Series>& all) {
  Results results;
  for (const Series& series : all) results.add(series);
  return results[number];
}

TEST(GpuRules, LargeBatchesFillTheGpuAndItsUnits) {
  for (const int number : {4, 6}) {
    const Observation o = observed(number, {used("a", {0.5, 0.7, 0.8, 0.95}), used("b", {0.5, 0.7, 0.8, 0.95})});
    EXPECT_EQ(o.verdict, RuleVerdict::holds) << number << ": " << o.effect;
    EXPECT_EQ(o.label, "cuda:0");
    EXPECT_EQ(observed(number, {used("a", {0.9, 0.8, 0.7, 0.6}), used("b", {0.9, 0.8, 0.7, 0.6})}).verdict,
              RuleVerdict::fails)
        << number;
  }
}

TEST(GpuRules, RecurrentModelsUseTheGpuLess) {
  const auto kinds = [](double lstm) {
    const std::vector<double> low = {lstm / 2, lstm / 2, lstm, lstm}, high = {0.5, 0.7, 0.8, 0.95};
    return std::vector{used("seq2seq", low, "lstm"), used("deep_speech_2", low, "lstm"), used("resnet50", high),
                       used("bert", high, "linear")};
  };
  for (const int number : {5, 7}) {
    EXPECT_EQ(observed(number, kinds(0.3)).verdict, RuleVerdict::holds) << number;
    EXPECT_EQ(observed(number, kinds(0.9)).verdict, RuleVerdict::fails) << number;
    EXPECT_THAT(observed(number, kinds(0.3)).label, Not(HasSubstr("CPU"))) << number;
  }
}

TEST(GpuRules, AProcessorAndAGpuAreNotSetAgainstEachOtherButByRuleTen) {
  Series processor = used("seq2seq", {0.2, 0.2, 0.2, 0.2}, "lstm");
  processor.device = Device::kCpu;
  const Observation o =
      observed(5, {processor, used("resnet50", {0.9, 0.9, 0.9, 0.9}), used("bert", {0.9, 0.9, 0.9, 0.9})});
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive) << o.effect;
}

TEST(GpuRules, LongKernelsOfAGpuAreNamed) {
  Results results;
  results.add(used("resnet50", {0.5, 0.7, 0.8, 0.95}));
  std::vector<Sweep> sweeps = results.sweeps();
  Profile& profile = sweeps[0].points.back().profile.emplace();
  profile.kernels = {{.name = "gemm", .direction = "forward", .total_ns = 900},
                     {.name = "bn_fw_tr_1C11_kernel_NCHW", .direction = "forward", .total_ns = 50},
                     {.name = "bn_bw_1C11_kernel_new", .direction = "backward", .total_ns = 60}};
  profile.kernels[0].utilization = 0.8;
  const auto rule = [&] { return observe(sweeps, sample::networks())[7]; };
  EXPECT_EQ(rule().verdict, RuleVerdict::holds) << rule().effect;
  EXPECT_THAT(rule().effect, AllOf(HasSubstr("batch 32"), HasSubstr("bn_bw_1C11_kernel_new (backward)")));
  profile.kernels.pop_back();
  EXPECT_EQ(rule().verdict, RuleVerdict::fails);
}

TEST(GpuRules, ProcessorsBesideAGpuAreJudgedOnTheGpuAlone) {
  Series processor = used("resnet50", {0.5, 0.5, 0.5, 0.5});
  processor.device = Device::kCpu;
  processor.machine_use = 0.9;
  Results results;
  results.add(processor).add(used("resnet50", {0.5, 0.5, 0.5, 0.5})).add(used("bert", {0.5, 0.5, 0.5, 0.5}));
  std::vector<RuleVerdict> verdicts;
  for (const Observation& o : results.all())
    if (o.number == 9) verdicts.push_back(o.verdict);
  EXPECT_THAT(verdicts, testing::UnorderedElementsAre(RuleVerdict::not_applicable, RuleVerdict::holds));
}

// The second GPU of one machine has twice the peak.
std::vector<Series> two_gpus(double faster) {
  std::vector<Series> all;
  for (const char* model : {"resnet50", "bert", "llama"}) {
    all.push_back(used(model, {0.8, 0.8, 0.9, 0.9}));
    Series fast = used(model, {0.6, 0.6, 0.7, 0.7});
    fast.device = Device("cuda:1");
    fast.peak = 2.4e12;
    for (double& x : fast.throughput) x *= faster;
    all.push_back(fast);
  }
  return all;
}

TEST(GpuRules, TheFasterGpuIsUsedLess) {
  const Observation o = observed(10, two_gpus(1.5));
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_THAT(o.label, AllOf(HasSubstr("cuda:1"), Not(HasSubstr("CPU: "))));
  EXPECT_EQ(observed(10, two_gpus(2.5)).verdict, RuleVerdict::fails);
}

TEST(GpuRules, AProcessorAgainstAGpuIsNotCalledCpu) {
  Series processor = used("bert", {0.8, 0.8, 0.9, 0.9});
  processor.device = Device::kCpu;
  const Observation o = observed(10, {processor, used("bert", {0.8, 0.8, 0.9, 0.9})});
  EXPECT_THAT(o.label, Not(testing::StartsWith("CPU: ")));
}

// Where neither a ledger nor the allocator says how much, the device's memory stands in and not the host's.
TEST(GpuRules, MemoryOfAGpuIsItsOwn) {
  Results results;
  results.add(used("resnet50", {}));
  for (Record& record : results.records())
    for (Launch& launch : record.launches) {
      launch.info.allocator_peak_bytes.reset();
      Json gpu = {{"use", {{"memory_bytes", {{"mean", 2e9}, {"peak", 3e9}}}}}};
      launch.info.gpu.emplace(gpu);
    }
  const std::vector<Sweep> sweeps = results.sweeps();
  EXPECT_EQ(sweeps[0].points[0].peak_bytes, 3'000'000'000);
  EXPECT_EQ(sweeps[0].points[0].peak_source, "device memory");
}

}  // namespace
}  // namespace tbd
