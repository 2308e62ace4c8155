#include "measure/gpu/gpu_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "measure/gpu/nvrtc.h"

namespace tbd {
namespace {

using testing::Contains;
using testing::ElementsAre;

const GpuKernel& kernel(std::string_view name) { return *std::ranges::find(gpu_kernels(), name, &GpuKernel::name); }

// Names of those that multiply matrices of `type` on a device.
std::vector<std::string> matrix_kernels(std::string_view type, ComputeCapability capability) {
  std::vector<std::string> names;
  for (const GpuKernel& each : gpu_kernels())
    if (each.unit == "matrix" && each.type == type && each.runs_on(capability)) names.emplace_back(each.name);
  return names;
}

TEST(GpuKernels, HaveExactFlopCounts) {
  EXPECT_EQ(flop_count(kernel("fma_fp32"), 1), 0) << "a warp is the least";
  EXPECT_EQ(flop_count(kernel("fma_fp32"), 32), 32 * 8 * 64 * 2);
  EXPECT_EQ(flop_count(kernel("fma_fp32"), 132 * 4 * 256), int64_t{132} * 1024 * 8 * 64 * 2);
  EXPECT_EQ(flop_count(kernel("fma_fp64"), 32), 32 * 8 * 64 * 2);
  EXPECT_EQ(flop_count(kernel("fma_fp16x2"), 32), 32 * 8 * 64 * 4);
  EXPECT_EQ(flop_count(kernel("fma_bf16x2"), 32), 32 * 8 * 64 * 4);
  EXPECT_EQ(flop_count(kernel("mma_fp16"), 32), 4 * 16 * 16 * 8 * 16 * 2);
  EXPECT_EQ(flop_count(kernel("mma_bf16"), 64), 2 * flop_count(kernel("mma_fp16"), 32));
  EXPECT_EQ(flop_count(kernel("mma_tf32"), 32), 4 * 16 * 16 * 8 * 8 * 2);
  EXPECT_EQ(flop_count(kernel("mma_fp64"), 32), 4 * 16 * 8 * 8 * 4 * 2);
  EXPECT_EQ(flop_count(kernel("wgmma_bf16"), 128), 16 * 64 * 256 * 16 * 2) << "four warps, one product";
  EXPECT_EQ(flop_count(kernel("wgmma_tf32"), 128), 16 * 64 * 256 * 8 * 2);
}

TEST(GpuKernels, MultiplyMatricesByTheInstructionOfEachGeneration) {
  EXPECT_THAT(matrix_kernels("fp16", 75), ElementsAre("mma_fp16_k8"));
  EXPECT_THAT(matrix_kernels("bf16", 75), ElementsAre());
  EXPECT_THAT(matrix_kernels("bf16", 80), ElementsAre("mma_bf16"));
  EXPECT_THAT(matrix_kernels("fp64", 80), ElementsAre("mma_fp64"));
  EXPECT_THAT(matrix_kernels("bf16", 90), ElementsAre("wgmma_bf16"));
  EXPECT_THAT(matrix_kernels("tf32", 90), ElementsAre("wgmma_tf32"));
  EXPECT_THAT(matrix_kernels("fp64", 90), ElementsAre("mma_fp64_k16"));
  EXPECT_THAT(matrix_kernels("bf16", 100), ElementsAre()) << "tcgen05 alone reaches its rate";
  EXPECT_THAT(matrix_kernels("bf16", 120), ElementsAre("mma_bf16"));
}

TEST(GpuKernels, AreCompiledForTheirDevice) {
  EXPECT_THAT(program_options(*kernel("mma_bf16").text, 86), Contains("--gpu-architecture=sm_86"));
  EXPECT_THAT(program_options(*kernel("wgmma_bf16").text, 90), Contains("--gpu-architecture=sm_90a"));
  EXPECT_THAT(program_options(*kernel("fma_fp32").text, 100), Contains("--gpu-architecture=sm_100"));
}

std::optional<Nvrtc> installed_nvrtc() {
  try {
    return std::optional<Nvrtc>(std::in_place);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// How often an instruction stands between two labels of a function, where it stands most: in its loop.
int64_t most_between_labels(const std::string& ptx, const GpuKernel& kernel) {
  const size_t begin = ptx.find(cat(".entry ", kernel.name, "("));
  if (begin == std::string::npos) return 0;
  const std::string function = ptx.substr(begin, ptx.find(".entry ", begin + 1) - begin);
  int64_t most = 0, here = 0;
  for (const std::string& line : split(function, '\n')) {
    if (line.starts_with("$L__")) here = 0;
    if (line.find(kernel.instruction) != std::string::npos) most = std::max(most, ++here);
  }
  return most;
}

TEST(GpuKernels, HoldTheInstructionsThatAreCounted) {
  const auto nvrtc = installed_nvrtc();
  if (!nvrtc) GTEST_SKIP() << "NO NVRTC: the system's loader finds none";
  for (const ComputeCapability capability : {75, 80, 86, 89, 90, 100, 120}) {
    std::map<std::string_view, std::string> compiled;  // by text
    for (const GpuKernel& each : gpu_kernels()) {
      if (!each.runs_on(capability)) continue;
      std::string& ptx = compiled[each.text->name];
      if (ptx.empty())
        ptx = nvrtc
                  ->compile(std::string(each.text->name), program_text(*each.text),
                            program_options(*each.text, capability))
                  .ptx;
      const int64_t operands = std::max<int64_t>(1, each.arrays - 1);
      EXPECT_EQ(most_between_labels(ptx, each), each.text->chains * each.text->steps * operands)
          << each.name << " on " << capability;
      EXPECT_EQ(ptx.find(".local"), std::string::npos) << each.text->name << " keeps values in memory";
    }
  }
}

}  // namespace
}  // namespace tbd
