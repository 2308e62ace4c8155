#include "runner/gpu_roofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "measure/gpu/testing_nvml.h"
#include "runner/set_roofs.h"

namespace tbd {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// Settings whose program is a shell script; $asked is a file with the arguments of each call, one a line.
class GpuRoofs : public testing::Test {
 protected:
  GpuRoofs() {
    settings_.environment = {{"PATH", "/usr/bin:/bin"}, {"asked", (folder_.path() / "asked").string()}};
    settings_.gpu_library = "libno-such-library.so.7";
    settings_.deadlines.grace = 0.2;
  }

  void program(const std::string& script) {
    settings_.program = folder_.path() / "program";
    write_file(settings_.program, cat("#!/bin/sh\necho \"$*\" >> \"$asked\"\n", script, "\n"));
    fs::permissions(settings_.program, fs::perms::owner_all);
  }
  // A program that prints these peaks, one after the other.
  void program_with(const std::vector<Peaks>& peaks) {
    for (size_t i = 0; i < peaks.size(); ++i)
      write_file(folder_.path() / cat("peaks.", i + 1), to_json(peaks[i]).dump() + "\n");
    program(cat("cat '", (folder_.path() / "peaks.").string(), "'$(wc -l < \"$asked\")"));
  }
  std::vector<std::string> asked() const {
    const fs::path file = folder_.path() / "asked";
    return is_file(file) ? split(trim(read_file(file)), '\n') : std::vector<std::string>();
  }
  std::string refusal(const PeakOptions& options = quick_peak_options()) const {
    try {
      gpu_peaks_of_process(Device("cuda:1"), options, "", settings_);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  RunnerSettings settings_;
};

Peaks gpu_peaks(double flop_rate, double bandwidth) {
  const auto of = [](const char* kernel, const char* type, const char* unit, double median) {
    return PeakResult{.kernel = kernel, .type = type, .unit = unit, .all = PeakRate{4096, 3, median, median}};
  };
  return {.kernels = {of("fma_fp32", "fp32", "vector", flop_rate), of("mma_bf16", "bf16", "matrix", 16 * flop_rate),
                      of("triad", "bytes", "memory", bandwidth)},
          .sample_seconds = 0.05,
          .samples = 3,
          .array_bytes = 1 << 28,
          .gpu = PeakGpu{.name = "NVIDIA T4", .uuid = "GPU-1", .cuda = "13.0", .compiler = "NVRTC 13.2"}};
}

TEST_F(GpuRoofs, AreMeasuredByAProcessOfTheirOwn) {
  program_with({gpu_peaks(100, 10)});
  PeakOptions options = quick_peak_options();
  options.kernels = {"fma_fp32", "triad"};
  options.array_bytes = 1024;
  const auto peaks = gpu_peaks_of_process(Device("cuda:1"), options, "/lib/libnvrtc.so.13", settings_);
  EXPECT_EQ(to_json(peaks.value()), to_json(gpu_peaks(100, 10)));
  EXPECT_EQ(asked(), (std::vector<std::string>{"gpu-peaks --json --device cuda:1 --samples 3 --sample-ms 50 --kernels "
                                               "fma_fp32,triad --array-bytes 1024 --nvrtc /lib/libnvrtc.so.13"}));
}

TEST_F(GpuRoofs, SayWhyThereAreNone) {
  EXPECT_EQ(refusal(), "no program is known that measures a GPU");
  program("echo chatter >&2; echo 'tbd: error: out of memory (cuMemAlloc_v2: 2)' >&2; exit 3");
  EXPECT_EQ(refusal(), "out of memory (cuMemAlloc_v2: 2)");
  program("exit 3");
  EXPECT_EQ(refusal(), "the process that measures the GPU exited with code 3");
  program("kill -SEGV $$");
  EXPECT_THAT(refusal(), HasSubstr("killed by signal 11"));
  program("echo '{\"cores\": 1'");
  EXPECT_THAT(refusal(), HasSubstr("tbd gpu-peaks: "));
  settings_.deadlines.gpu_peaks = 0.3;
  program("sleep 60");
  EXPECT_EQ(refusal(), "the process that measures the GPU took more than 300 ms");
}

TEST_F(GpuRoofs, EndWithAnInterrupt) {
  program("sleep 60");
  PeakOptions options = quick_peak_options();
  options.cancelled = [] { return true; };
  EXPECT_FALSE(gpu_peaks_of_process(Device("cuda:0"), options, "", settings_));
}

TEST_F(GpuRoofs, TakeTheCompilerOfTheWorkersFrameworkFirst) {
  const auto with_compiler = [&](const std::string& name) {
    const fs::path root = folder_.path() / name;
    make_folder(root / "nvidia/cu13/lib");
    write_file(root / "nvidia/cu13/lib/libnvrtc.so.13", "");
    return root;
  };
  settings_.workers = {{.key = "mxnet", .root = folder_.path() / "mxnet"},
                       {.key = "pytorch", .root = with_compiler("pytorch")},
                       {.key = "tensorflow", .root = folder_.path() / "tensorflow"}};
  with_compiler("tensorflow-cuda");  // as the set-up unpacks it
  EXPECT_EQ(nvrtc_of_workers(&settings_.workers[2], settings_),
            folder_.path() / "tensorflow-cuda/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(nvrtc_of_workers(&settings_.workers[0], settings_),
            folder_.path() / "pytorch/nvidia/cu13/lib/libnvrtc.so.13");
  settings_.workers.resize(1);
  EXPECT_EQ(nvrtc_of_workers(nullptr, settings_), "");
}

PreparedCell cell_on(const Device& device) {
  return {.cell = {.model = "resnet50", .precision = Precision::kBf16, .device = device}};
}

TEST_F(GpuRoofs, GoIntoTheRecordWithTheirDrift) {
  program_with({gpu_peaks(100, 10), gpu_peaks(94, 10)});
  SetRoofs roofs(true, Effort::quick, {}, settings_);
  const PreparedCell cell = cell_on(Device("cuda:0"));
  ASSERT_TRUE(roofs.before_is_due(cell));
  EXPECT_FALSE(roofs.after_is_due(cell));
  roofs.measure_before(cell);
  EXPECT_FALSE(roofs.before_is_due(cell));
  EXPECT_TRUE(roofs.before_is_due(cell_on(Device("cuda:1")))) << "another device";
  ASSERT_TRUE(roofs.after_is_due(cell));
  roofs.measure_after(cell);
  EXPECT_THAT(asked().at(1), HasSubstr("--kernels fma_fp32,triad --array-bytes 268435456")) << "a short sample";
  const Json peaks = roofs.of(cell, 1500);
  EXPECT_EQ(peaks["isa"]["fp32"], 97);
  EXPECT_EQ(peaks["isa"]["bf16"], 1600 * 0.97) << peaks.dump(1);
  EXPECT_EQ(peaks["gemm"]["bf16"], 1500);
  EXPECT_EQ(peaks["bandwidth"], 10);
  EXPECT_NEAR(peaks["drift"].get<double>(), 0.06, 1e-12) << "a device that throttles";
  EXPECT_EQ(peaks["before"]["gpu"]["name"], "NVIDIA T4");
}

TEST_F(GpuRoofs, ThatAreMissingLeaveTheFrameworksProductAndAReason) {
  program("echo 'tbd: error: CUDA'\"'\"'s run-time compiler is missing' >&2; exit 3");
  SetRoofs roofs(true, Effort::quick, {}, settings_);
  const PreparedCell cell = cell_on(Device("cuda:0"));
  roofs.measure_before(cell);
  EXPECT_FALSE(roofs.before_is_due(cell)) << "it would fail again";
  EXPECT_FALSE(roofs.after_is_due(cell));
  EXPECT_EQ(roofs.of(cell, 1500),
            (Json{{"reason", "CUDA's run-time compiler is missing"}, {"gemm", {{"bf16", 1500.0}}}}));
  EXPECT_EQ(asked().size(), 1u);
}

TEST_F(GpuRoofs, AreKeptForTheDeviceAndTheVersionOfItsDriver) {
  settings_.cache = folder_.path() / "cache";
  program_with({gpu_peaks(100, 10), gpu_peaks(101, 10), gpu_peaks(99, 10), gpu_peaks(98, 10)});
  const PreparedCell cell = cell_on(Device("cuda:0"));
  const auto measure_with = [&](const std::string& driver) {
    const ScriptedNvml nvml(TBD_BINARY_DIR, cat("nvmlDeviceGetCount_v2 1\nnvmlSystemGetDriverVersion ", driver,
                                                "\n0 nvmlDeviceGetName NVIDIA T4\n0 nvmlDeviceGetUUID GPU-1\n"));
    settings_.gpu_library = nvml.library();
    SetRoofs roofs(true, Effort::quick, {}, settings_);
    roofs.measure_before(cell);
    return roofs.of(cell, {});
  };
  EXPECT_FALSE(measure_with("580.65.06").contains("kept"));
  const Json second = measure_with("580.65.06");
  EXPECT_EQ(second["kept"]["holds"], true);
  EXPECT_EQ(second["isa"]["fp32"], 100) << "the check of 101 confirms it";
  EXPECT_FALSE(measure_with("590.10.01").contains("kept"));
  EXPECT_EQ(asked().size(), 3u);
}

}  // namespace
}  // namespace tbd
