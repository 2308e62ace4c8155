#include "runner/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/amounts.h"
#include "base/json.h"
#include "graph/memory.h"
#include "models/model.h"
#include "runner/prepare.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Hardware kHardware{
    .machine = {.cores = 2, .memory = int64_t{16} << 30},
    .rates = {.flop_rate = {{"fp32", 200e9}, {"bf16", 400e9}}, .bandwidth = 1e15, .threads = 2, .source = "a test"},
    .gpu = {.name = "a GPU",
            .memory_bytes = int64_t{24} << 30,
            .rates = {.flop_rate = {{"fp32", 20e12}, {"bf16", 80e12}}, .bandwidth = 1e15, .source = "a test"}}};

CellPrediction one(const Workload& cell, const RunOptions& options = {}) {
  return predict({cell}, options, kHardware).at(0);
}

TEST(Prediction, StepTimeIsFlopsDividedByAShareOfTheRoof) {
  // Without a limit by memory: train FLOPs of ResNet-50, batch 4, at 0.6 x 200 GFLOP/s.
  const double flop_count = 4.0 * 24'299'077'632;
  EXPECT_NEAR(one({.model = "resnet50", .batch = 4}).step_seconds, flop_count / (0.6 * 200e9), 1e-3);
  EXPECT_NEAR(one({.model = "resnet50", .batch = 4, .precision = Precision::kBf16}).step_seconds,
              flop_count / (0.6 * 400e9), 1e-3);
  EXPECT_NEAR(one({.model = "resnet50", .batch = 4, .threads = 1}).step_seconds, flop_count / (0.6 * 100e9), 1e-3);
}

TEST(Prediction, StepTimeOfASmallNetworkIsCallOverhead) {
  const CellPrediction tiny = one({.model = "resnet50", .config = "tiny", .batch = 1});
  EXPECT_GT(tiny.step_seconds, 2e-3);
  EXPECT_LT(tiny.step_seconds, 20e-3);
}

TEST(Prediction, PredictedMemoryDecidesWhatFits) {
  const Program program = load_program("resnet50", "tiny").program;
  const int64_t bytes = predict_memory(program, {{"N", 8}}).peak().value;
  Workload cell{.model = "resnet50", .config = "tiny", .batch = 8};
  EXPECT_EQ(one(cell).memory_bytes, bytes);
  EXPECT_TRUE(one(cell).fits);
  cell.memory_budget_bytes = bytes;  // leaves nothing for the framework
  EXPECT_FALSE(one(cell).fits);
  EXPECT_LT(one(cell).seconds, 10);
}

TEST(Prediction, MemoryIsByTheFrameworksRules) {
  const Program program = load_program("resnet50", "tiny").program;
  const Workload pytorch{.model = "resnet50", .config = "tiny", .framework = "pytorch", .batch = 8};
  Workload tensorflow = pytorch;
  tensorflow.framework = "tensorflow@2.21";
  const std::vector<CellPrediction> both = predict({pytorch, tensorflow}, {}, kHardware);
  EXPECT_EQ(both[0].memory_bytes, predict_memory(program, {{"N", 8}}).peak().value);
  EXPECT_EQ(both[1].memory_bytes, predict_memory(program, {{"N", 8}}, {}, Keeper::tensorflow).peak().value);
  EXPECT_GT(both[1].memory_bytes, both[0].memory_bytes);
  Workload largest = pytorch;
  largest.batch = kLargestThatFits;
  largest.memory_budget_bytes = int64_t{1} << 30;
  const int64_t in_pytorch = one(largest).batch;
  largest.framework = "tensorflow";
  EXPECT_LT(one(largest).batch, in_pytorch);
}

// Why prepare() refuses the workload with one byte for its data.
std::string refused_for(const std::string& model, const std::string& framework = "pytorch",
                        const char* device = "cpu") {
  RunnerSettings settings;
  settings.workers = {{.key = framework, .framework = framework, .version = "2"}};
  const Workload cell{.model = model,
                      .config = "tiny",
                      .framework = framework,
                      .batch = 2,
                      .device = Device(device),
                      .memory_budget_bytes = 1};
  const PreparedCell prepared = prepare(cell, Effort::smoke, settings);
  return prepared.refused ? prepared.refused->reason : "";
}

// All of them are an upper bound, which need not be what the step takes.
TEST(Prediction, RefusesByWhatIsNeededWithoutRaggedRows) {
  EXPECT_THAT(refused_for("mask_rcnn"), HasSubstr("of memory without its ragged rows, more than 1.5 times"));
  EXPECT_THAT(refused_for("resnet50"), HasSubstr("of memory, more than 1.5 times"));
  const int64_t bound = predict_memory(load_program("mask_rcnn", "tiny").program, {{"N", 2}}).peak().value;
  EXPECT_THAT(refused_for("mask_rcnn"), Not(HasSubstr(format_bytes(bound))));
}

TEST(Prediction, RefusesByTheRulesOfTheFrameworkAndTheDevice) {
  const auto needed = [](Keeper keeper) {
    return predict_memory(load_program("resnet50", "tiny").program, {{"N", 2}}, {}, keeper);
  };
  const auto words = [](Bytes bytes) { return HasSubstr(format_bytes(bytes.value) + " of memory,"); };
  const MemoryPrediction mxnet = needed(Keeper::mxnet);
  EXPECT_THAT(refused_for("resnet50"), words(needed(Keeper::pytorch).peak()));
  EXPECT_THAT(refused_for("resnet50", "tensorflow"), words(needed(Keeper::tensorflow).peak()));
  EXPECT_THAT(refused_for("resnet50", "mxnet"), words(mxnet.peak()));
  EXPECT_GT(mxnet.kernels, Bytes(0));
  EXPECT_THAT(refused_for("resnet50", "mxnet", "cuda:0"), words(mxnet.peak() - mxnet.kernels)) << "not oneDNN's";
}

TEST(Prediction, LaunchesOfAllPassesCountAndALimitBoundsThem) {
  RunOptions options;
  options.limit_seconds = 20;
  options.launches = 1;
  const Workload slow{.model = "resnet50", .batch = 32};
  const double clean = one(slow, options).seconds;
  options.launches = 3;
  EXPECT_NEAR(one(slow, options).seconds, 3 * clean, 1e-9);
  options.launches = 1;
  options.passes = {Pass::kClean, Pass::kMemory};
  EXPECT_GT(one(slow, options).seconds, clean + 20);
  options.passes = {Pass::kClean};
  options.limit_seconds = 40;
  EXPECT_NEAR(one(slow, options).seconds, clean + 20, 1e-9);
}

TEST(Prediction, DefaultsAreFilledInAndKindsAreKnown) {
  EXPECT_EQ(one({.model = "resnet50"}).cell.batch, 8);
  EXPECT_EQ(one({.model = "resnet50"}).cell.config, "canonical");
  EXPECT_TRUE(one({.model = "seq2seq", .config = "tiny"}).kind.lstm);
  EXPECT_TRUE(one({.model = "deep_speech_2", .config = "tiny"}).kind.recurrent);
  EXPECT_TRUE(one({.model = "minigo", .config = "tiny"}).kind.reinforcement);
  EXPECT_FALSE(one({.model = "bert", .config = "tiny"}).kind.recurrent);
}

TEST(Prediction, AGpuHasRatesAndMemoryOfItsOwn) {
  const double flop_count = 64.0 * 24'299'077'632;
  Workload cell{.model = "resnet50", .batch = 64, .device = Device{"cuda:0"}};
  EXPECT_NEAR(one(cell).step_seconds, flop_count / (0.4 * 20e12), 1e-3);
  cell.threads = 1;
  EXPECT_NEAR(one(cell).step_seconds, flop_count / (0.4 * 20e12), 1e-3) << "threads are the host's";
  cell.precision = Precision::kBf16;
  EXPECT_NEAR(one(cell).step_seconds, flop_count / (0.4 * 80e12), 1e-3);
  cell.batch = 256;
  cell.precision = Precision::kFp32;
  EXPECT_GT(one(cell).memory_bytes, kHardware.machine.memory);
  EXPECT_TRUE(one(cell).fits);
  cell.batch = 512;
  EXPECT_FALSE(one(cell).fits);
}

TEST(Prediction, AGraphOfTheDeviceSavesTheHostsCalls) {
  Workload cell{.model = "resnet50", .config = "tiny", .batch = 1, .device = Device{"cuda:0"}};
  const double eager = one(cell).step_seconds;
  cell.mode = Mode::kCudaGraph;
  EXPECT_NEAR(one(cell).step_seconds, eager / 16, 1e-9);
  cell.device = Device::kCpu;
  EXPECT_GT(one(cell).step_seconds, eager);
}

TEST(Prediction, PrefersRecordedPeaksOverAssumedOnes) {
  const Json peaks = {{"isa", {{"fp32", 1e11}, {"bf16", 2e11}}}, {"bandwidth", 2e10}, {"threads", 2}};
  const auto rates = rates_of(peaks, "results/a");
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->flop_rate.at("bf16"), 2e11);
  EXPECT_THAT(rates->source, HasSubstr("results/a"));
  Json of_gpu = peaks;
  of_gpu["before"] = {{"gpu", {{"name", "NVIDIA T4"}}}};
  EXPECT_FALSE(rates_of(of_gpu, "results/a")) << "these are no cores";
  EXPECT_FALSE(gpu_of(peaks, "results/a")) << "this is no GPU";
  ASSERT_TRUE(gpu_of(of_gpu, "results/a"));
  EXPECT_EQ(gpu_of(of_gpu, "results/a")->rates.flop_rate.at("bf16"), 2e11);
  EXPECT_FALSE(rates_of(Json::object(), "x"));
  EXPECT_FALSE(rates_of({{"isa", {{"bf16", 2e11}}}, {"bandwidth", 2e10}}, "x"));
  EXPECT_GT(assumed_rates(2).flop_rate.at("fp32"), assumed_rates(1).flop_rate.at("fp32"));
  EXPECT_THAT(assumed_rates(2).source, HasSubstr("assumed"));
}

TEST(Prediction, ExpectsTenTimesTheTimeOfBf16WithoutAnInstructionForIt) {
  Hardware hardware;
  hardware.rates = rates_of({{"isa", {{"fp32", 1e11}}}, {"bandwidth", 1e12}, {"threads", 1}}, "x").value();
  const auto seconds = [&](Precision precision) {
    const std::vector<Workload> cells = {{.model = "resnet50", .batch = 32, .precision = precision, .threads = 1}};
    return predict(cells, RunOptions{}, hardware).front().step_seconds;
  };
  EXPECT_NEAR(seconds(Precision::kBf16), 10 * seconds(Precision::kFp32), seconds(Precision::kFp32));
}

TEST(Amounts, AreReadAndWrittenWithTheirUnits) {
  EXPECT_EQ(seconds_from("2m", "limit"), 120);
  EXPECT_EQ(seconds_from(" 1.5 h ", "limit"), 5400);
  EXPECT_EQ(seconds_from("90", "limit"), 90);
  EXPECT_EQ(seconds_from("3h48m", "limit"), 13'680);
  EXPECT_EQ(seconds_from("2 min 05 s", "limit"), 125) << "as times are printed";
  EXPECT_EQ(bytes_from("4GiB", "memory"), int64_t{4} << 30);
  EXPECT_EQ(bytes_from("1.5 kB", "memory"), 1500);
  EXPECT_EQ(bytes_text(int64_t{4} << 30), "4GiB");
  EXPECT_EQ(bytes_text(1500), "1500B");
  for (const char* bad : {"", "s", "-1s", "0", "1x", "1e3s", "nan", "999999999999h", "5m1h", "1h5", "1h2h", "1h-5m"})
    EXPECT_THROW(seconds_from(bad, "limit"), Error) << bad;
  for (const char* bad : {"", "4", "GiB", "0MB", "-1MB", "4 GiBs", "1e30B", "99999999999TB"})
    EXPECT_THROW(bytes_from(bad, "memory"), Error) << bad;
  for (const double seconds : {0.1, 1.0 / 3, 86400.0}) EXPECT_EQ(seconds_from(seconds_text(seconds), "x"), seconds);
}

}  // namespace
}  // namespace tbd
