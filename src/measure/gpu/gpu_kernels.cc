// Which instruction multiplies matrices at a device's full rate changes with its generation (PTX ISA; NVIDIA's
// architecture white papers), so each matrix kernel names the generations that it is the roof of. The others would read
// too low: compute capability 9.0 does less than two thirds by `mma`, and 10.x and 11.x need `tcgen05.mma`, for which
// there is no kernel yet.
#include "measure/gpu/gpu_kernels.h"

#include "measure/gpu/kernel_texts.h"

namespace tbd {
namespace {

constexpr int64_t kWarp = 32;

// 1024 threads on a multiprocessor, which each generation holds: 8 warps for each of its 4 schedulers, so that
// latencies of some 30 cycles are hidden by 8 * chains instructions under way. A loop of 512 multiply-adds has 6
// others, 1.2 %.
constexpr GpuKernelText kFma = {"fma.cu", gpu_fma_text, 256, 4, 8, 64};
constexpr GpuKernelText kFmaPacked = {"fma_packed.cu", gpu_fma_packed_text, 256, 4, 8, 64};
constexpr GpuKernelText kMma = {"mma.cu", gpu_mma_text, 256, 4, 4, 16};
constexpr GpuKernelText kWgmma = {"wgmma.cu", gpu_wgmma_text, 128, 2, 1, 16};
constexpr GpuKernelText kStream = {"stream.cu", gpu_stream_text, 256, 4, 1, 4};

bool always(ComputeCapability) { return true; }
bool from_8_0(ComputeCapability capability) { return capability >= 80; }
bool turing(ComputeCapability capability) { return capability == 75; }
bool warp_products(ComputeCapability capability) { return (capability >= 80 && capability < 90) || capability >= 120; }
bool hopper(ComputeCapability capability) { return capability == 90; }
bool fp64_products(ComputeCapability capability) { return capability >= 80 && !hopper(capability); }

// FLOPs of an m x n x k product; the instructions of wgmma are those of four warps.
constexpr int64_t product(int64_t m, int64_t n, int64_t k) { return 2 * m * n * k; }

constexpr GpuKernel kGpuKernels[] = {
    {"fma_fp32", "fp32", "vector", "fma.rn.f32 ", &kFma, 2 * kWarp, 0, always},
    {"fma_fp64", "fp64", "vector", "fma.rn.f64 ", &kFma, 2 * kWarp, 0, always},
    {"fma_fp16x2", "fp16x2", "vector", "fma.rn.f16x2 ", &kFmaPacked, 4 * kWarp, 0, always},
    {"fma_bf16x2", "bf16x2", "vector", "fma.rn.bf16x2 ", &kFmaPacked, 4 * kWarp, 0, from_8_0},
    {"mma_fp16_k8", "fp16", "matrix", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", &kMma, product(16, 8, 8), 0,
     turing},
    {"mma_fp16", "fp16", "matrix", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", &kMma, product(16, 8, 16), 0,
     warp_products},
    {"mma_bf16", "bf16", "matrix", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", &kMma, product(16, 8, 16), 0,
     warp_products},
    {"mma_tf32", "tf32", "matrix", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", &kMma, product(16, 8, 8), 0,
     warp_products},
    {"mma_fp64", "fp64", "matrix", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", &kMma, product(8, 8, 4), 0,
     fp64_products},
    {"mma_fp64_k16", "fp64", "matrix", "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", &kMma, product(16, 8, 16),
     0, hopper},
    {"copy", "bytes", "memory", "ld.global.v", &kStream, 0, 2, always},
    {"triad", "bytes", "memory", "ld.global.v", &kStream, 0, 3, always},
    {"wgmma_fp16", "fp16", "matrix", "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", &kWgmma,
     product(64, 256, 16) / 4, 0, hopper},
    {"wgmma_bf16", "bf16", "matrix", "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", &kWgmma,
     product(64, 256, 16) / 4, 0, hopper},
    {"wgmma_tf32", "tf32", "matrix", "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32", &kWgmma,
     product(64, 256, 8) / 4, 0, hopper},
};

}  // namespace

std::span<const GpuKernel> gpu_kernels() { return kGpuKernels; }

int64_t flop_count(const GpuKernel& kernel, int64_t threads) {
  return threads / kWarp * kernel.text->chains * kernel.text->steps * kernel.flop_per_instruction;
}

std::string program_text(const GpuKernelText& text) { return cat(gpu_random_text(), text.text()); }

std::vector<std::string> program_options(const GpuKernelText& text, ComputeCapability capability) {
  return {cat("--gpu-architecture=sm_", capability, hopper(capability) ? "a" : ""), "--std=c++17",
          cat("--define-macro=THREADS=", text.threads), cat("--define-macro=CHAINS=", text.chains),
          cat("--define-macro=STEPS=", text.steps)};
}

}  // namespace tbd
