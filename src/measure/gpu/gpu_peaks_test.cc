#include "measure/gpu/gpu_peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "measure/gpu/testing_cuda.h"
#include "measure/gpu/testing_nvml.h"
#include "measure/peaks/judge.h"

namespace tbd {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

PeakOptions quick(std::vector<std::string> kernels = {}) {
  PeakOptions options = quick_peak_options();
  options.kernels = std::move(kernels);
  options.array_bytes = 1 << 20;
  return options;
}

Peaks measured(const ScriptedCuda& cuda, const PeakOptions& options) {
  return measure_gpu_peaks(cuda.target(), options).value();
}

const PeakResult& row(const Peaks& peaks, std::string_view kernel) {
  return *std::ranges::find(peaks.kernels, kernel, &PeakResult::kernel);
}

std::string refusal(const ScriptedCuda& cuda, const PeakOptions& options) {
  try {
    measured(cuda, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(GpuPeaks, FollowFromTheThreadsThatALaunchHas) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "multiprocessors 4\nspeed.fma_fp32 1e9\nspeed.mma_bf16 1e9\nspeed.triad 1e9");
  const Peaks peaks = measured(cuda, quick());
  const PeakResult& fp32 = row(peaks, "fma_fp32");
  ASSERT_TRUE(fp32.all) << fp32.reason;
  EXPECT_NEAR(fp32.all->median, 1e9 * 8 * 64 * 2, 1e6) << "1e9 thread iterations a second";
  EXPECT_EQ(fp32.all->threads, 4 * 4 * 256);
  EXPECT_EQ(fp32.unit, "vector");
  EXPECT_NEAR(isa_roof(peaks, "bf16").value(), 1e9 / 32 * 4 * 16 * 4096, 1e9);
  // An iteration moves 3 arrays: those bytes for each of the threads that share them.
  EXPECT_NEAR(bandwidth_roof(peaks).value(), 1e9 * 3 * static_cast<double>(peaks.array_bytes) / (4 * 4 * 256), 1e9);
  for (const std::string& call : cuda.calls("launch ")) EXPECT_THAT(call, HasSubstr(" 16 x 256 "));
  EXPECT_EQ(cuda.calls("launch fill").size(), 1u);
  EXPECT_THAT(cuda.calls("release"), ElementsAre("release, 0 allocations left"));
}

TEST(GpuPeaks, NameTheDevice) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "capability 90\nmultiprocessors 132");
  const Peaks peaks = measured(cuda, quick({"fma_fp32", "wgmma_bf16"}));
  ASSERT_TRUE(peaks.gpu);
  EXPECT_EQ(peaks.gpu->name, "Scripted GPU");
  EXPECT_EQ(peaks.gpu->uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e00");
  EXPECT_EQ(peaks.gpu->capability, "9.0");
  EXPECT_EQ(peaks.gpu->cuda, "13.1");
  EXPECT_EQ(peaks.gpu->compiler, "NVRTC 13.2");
  EXPECT_EQ(peaks.gpu->multiprocessors, 132);
  EXPECT_TRUE(peaks.cores.empty());
  EXPECT_EQ(to_json(peaks_from_json(to_json(peaks))), to_json(peaks));
  EXPECT_THAT(cuda.calls("launch wgmma_bf16").front(), HasSubstr(" 264 x 128 "));
}

TEST(GpuPeaks, AreTheMedianAndTheBestOfTheSamples) {
  // Repeats found, warmed up, repeats found, three samples.
  const ScriptedCuda cuda(TBD_BINARY_DIR, "elapsed.fma_fp32 50 | 500 | 50 | 20 | 10 | 40");
  const PeakResult fp32 = row(measured(cuda, quick({"fma_fp32"})), "fma_fp32");
  const double work = 2 * 1024 * 8 * 64 * 2;
  EXPECT_NEAR(fp32.all->median, work / 0.020, 1);
  EXPECT_NEAR(fp32.all->best, work / 0.010, 1);
  EXPECT_EQ(fp32.all->samples, 3);
  EXPECT_EQ(cuda.calls("launch").size(), 6u);
}

TEST(GpuPeaks, ArraysAreFarLargerThanTheCache) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "l2 268435456\nfree 17179869184");
  PeakOptions options = quick({"copy"});
  options.array_bytes.reset();
  const Peaks peaks = measured(cuda, options);
  EXPECT_EQ(peaks.array_bytes, int64_t{1} << 30);
  EXPECT_EQ(peaks.cache_bytes, 1 << 28);
  EXPECT_THAT(cuda.calls("allocate"), ElementsAre(cat("allocate ", int64_t{3} << 30)));
}

TEST(GpuPeaks, SayWhyAKernelDoesNotRunOnADevice) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "capability 100");
  const Peaks peaks = measured(cuda, quick());
  EXPECT_EQ(row(peaks, "wgmma_bf16").reason, "compute capability 10.0 has no such instruction or a faster one");
  EXPECT_FALSE(isa_roof(peaks, "bf16")) << "packed vectors are no roof of a device that multiplies matrices";
  EXPECT_TRUE(isa_roof(peaks, "fp32"));
}

TEST(GpuPeaks, GoOnWithoutAProgramThatDoesNotCompile) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "capability 90",
                          "wgmma.cu: nvrtc: error: invalid value for --gpu-architecture (-arch)");
  const Peaks peaks = measured(cuda, quick());
  EXPECT_EQ(row(peaks, "wgmma_fp16").reason,
            "wgmma.cu does not compile: nvrtc: error: invalid value for --gpu-architecture (-arch)");
  EXPECT_TRUE(row(peaks, "fma_fp64").all);
}

TEST(GpuPeaks, GoOnWithoutMemoryForTheArrays) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "free 2000000");
  const Peaks peaks = measured(cuda, quick());
  EXPECT_EQ(row(peaks, "triad").reason, "out of memory (cuMemAlloc_v2: 2)");
  EXPECT_TRUE(row(peaks, "mma_bf16").all);
  EXPECT_THAT(cuda.calls("release"), ElementsAre("release, 0 allocations left"));
}

TEST(GpuPeaks, KeepWhatWasMeasuredBeforeAFaultOfTheDevice) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "fault.mma_fp16 719");
  const Peaks peaks = measured(cuda, quick());
  EXPECT_TRUE(row(peaks, "fma_fp32").all);
  EXPECT_EQ(row(peaks, "mma_fp16").reason, "unspecified launch failure (cuStreamSynchronize: 719)");
  EXPECT_EQ(row(peaks, "triad").reason,
            "the device failed in mma_fp16: unspecified launch failure (cuStreamSynchronize: 719)");
  EXPECT_TRUE(cuda.calls("launch triad").empty());
}

TEST(GpuPeaks, AreRefusedWithOneSentence) {
  EXPECT_EQ(refusal(ScriptedCuda(TBD_BINARY_DIR, "fault.fma_fp32 719"), quick()),
            "fma_fp32: unspecified launch failure (cuStreamSynchronize: 719)");
  EXPECT_EQ(refusal(ScriptedCuda(TBD_BINARY_DIR, "fail.cuDevicePrimaryCtxRetain 2"), quick()),
            "out of memory (cuDevicePrimaryCtxRetain: 2)");
  EXPECT_EQ(refusal(ScriptedCuda(TBD_BINARY_DIR, "fail.cuModuleLoadData 200"), quick()),
            "fma_fp32: device kernel image is invalid (cuModuleLoadData: 200)");
  EXPECT_THAT(refusal(ScriptedCuda(TBD_BINARY_DIR, "elapsed.fma_fp32 0"), quick({"fma_fp32"})),
              HasSubstr("the clock does not move"));
  const ScriptedCuda cuda(TBD_BINARY_DIR, "");
  EXPECT_THAT(refusal(cuda, quick({"fma_fp23"})), HasSubstr("fma_fp32"));
  GpuTarget target = cuda.target();
  target.device = Device("cuda:1");
  EXPECT_THROW(measure_gpu_peaks(target, quick()), Error) << "there is one device";
  target = cuda.target();
  target.nvrtc = "libno-such-compiler.so.1";
  EXPECT_THROW(measure_gpu_peaks(target, quick()), Error);
  target = cuda.target();
  target.driver = "libno-such-driver.so.1";
  EXPECT_THROW(measure_gpu_peaks(target, quick()), Error);
}

TEST(GpuPeaks, ACancelledMeasurementEndsWithoutAResult) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "");
  PeakOptions options = quick();
  int64_t asked = 0;
  options.cancelled = [&] { return ++asked > 30; };
  EXPECT_FALSE(measure_gpu_peaks(cuda.target(), options));
  EXPECT_EQ(asked, 31);
}

TEST(GpuPeaks, OfADeviceThatThrottlesDriftAndAreFlagged) {
  const auto at_speed = [](const char* arithmetic, const char* memory) {
    const ScriptedCuda cuda(TBD_BINARY_DIR, cat("speed.fma_fp32 ", arithmetic, "\nspeed.triad ", memory));
    return measured(cuda, quick({"fma_fp32", "triad"}));
  };
  const Peaks before = at_speed("1e9", "1e6"), after = at_speed("0.94e9", "0.8e6");
  EXPECT_NEAR(drift(before, after).value(), 0.06, 1e-6);
  EXPECT_EQ(gate(drift(before, after), {}), PeaksGate::flagged);
  EXPECT_EQ(gate(drift(before, at_speed("0.5e9", "1e6")), {}), PeaksGate::withheld);
  const Json record = peaks_for_record(before, after);
  EXPECT_NEAR(record["drift"].get<double>(), 0.06, 1e-6);
  EXPECT_NEAR(record["bandwidth_drift"].get<double>(), 0.2, 1e-6);
  EXPECT_NEAR(record["isa"]["fp32"].get<double>(), 0.97e9 * 1024, 1e6);
  EXPECT_FALSE(record.contains("threads")) << "those of a GPU are not the workload's";
  Peaks other = after;
  other.gpu->uuid = "GPU-another";
  EXPECT_FALSE(drift(before, other)) << "another device has another roof";
}

TEST(GpuPeaks, NoteTheClockBeforeAndAfter) {
  const ScriptedCuda cuda(TBD_BINARY_DIR, "");
  const ScriptedNvml nvml(TBD_BINARY_DIR,
                          "nvmlDeviceGetCount_v2 1\nnvmlSystemGetDriverVersion 580.65.06\n"
                          "0 nvmlDeviceGetClockInfo.sm 1980 | 1755\n");
  GpuTarget target = cuda.target();
  target.nvml = nvml.library();
  const Peaks peaks = measure_gpu_peaks(target, quick({"fma_fp32"})).value();
  EXPECT_EQ(peaks.gpu->driver, "580.65.06");
  EXPECT_EQ(peaks.gpu->sm_clock_before_mhz, 1980);
  EXPECT_EQ(peaks.gpu->sm_clock_after_mhz, 1755);
}

}  // namespace
}  // namespace tbd
