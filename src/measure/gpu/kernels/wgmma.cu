// Products of a warp group, four warps, by the tensor cores of compute capability 9.0, D <- A B + D with A of 64 x K and B
// of K x 256 in shared memory (PTX ISA, "wgmma"): mma.cu's products reach less than two thirds of these cores (Luo et al.
// 2024, arXiv:2402.13499). A group adds STEPS products to its one sum an iteration; blocks beside it fill the time in
// which it waits.

// Of A and B: 64 and 256 rows of 32 bytes, K of 16 numbers of 16 bits or 8 of 32. Core matrices of 8 rows of 16 bytes lie
// one behind the other, the two of a row side by side: 128 bytes from one to the next along K, 256 along the rows.
constexpr int kRowBytes = 32, kRowsOfA = 64, kRowsOfB = 256;

__device__ unsigned long long describe(const unsigned* matrix) {
  const unsigned long long address = __cvta_generic_to_shared(matrix);
  const unsigned long long along_k = 128, along_rows = 256;
  return (address & 0x3ffff) >> 4 | (along_k >> 4) << 16 | (along_rows >> 4) << 32;
}

// clang-format off
#define SUMS \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_OF_EIGHT(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define ADD_PRODUCT(kind, transposed) \
  asm volatile("{ .reg .pred add; setp.ne.u32 add, %130, 0; wgmma.mma_async.sync.aligned." kind " {" SUMS "}, " \
               "%128, %129, add, 1, 1" transposed "; }" \
               : SUMS_OF_EIGHT(0), SUMS_OF_EIGHT(8), SUMS_OF_EIGHT(16), SUMS_OF_EIGHT(24), \
                 SUMS_OF_EIGHT(32), SUMS_OF_EIGHT(40), SUMS_OF_EIGHT(48), SUMS_OF_EIGHT(56), \
                 SUMS_OF_EIGHT(64), SUMS_OF_EIGHT(72), SUMS_OF_EIGHT(80), SUMS_OF_EIGHT(88), \
                 SUMS_OF_EIGHT(96), SUMS_OF_EIGHT(104), SUMS_OF_EIGHT(112), SUMS_OF_EIGHT(120) \
               : "l"(a), "l"(b), "r"(1))
// clang-format on

// Both 16-bit types have numbers of magnitude [0.5, 1) and both signs in these bits.
struct Fp16 {
  static constexpr unsigned kRandom = 0x83ff83ffu, kHalf = 0x38003800u;
  static __device__ void add(float (&d)[128], unsigned long long a, unsigned long long b) {
    ADD_PRODUCT("m64n256k16.f32.f16.f16", ", 0, 0");
  }
};

struct Bf16 {
  static constexpr unsigned kRandom = 0x807f807fu, kHalf = 0x3f003f00u;
  static __device__ void add(float (&d)[128], unsigned long long a, unsigned long long b) {
    ADD_PRODUCT("m64n256k16.f32.bf16.bf16", ", 0, 0");
  }
};

struct Tf32 {
  static constexpr unsigned kRandom = 0x807fffffu, kHalf = 0x3f000000u;
  static __device__ void add(float (&d)[128], unsigned long long a, unsigned long long b) {
    ADD_PRODUCT("m64n256k8.f32.tf32.tf32", "");
  }
};

template <class Product>
__device__ void run_products(float* out, long long iterations) {
  __shared__ alignas(128) unsigned matrices[(kRowsOfA + kRowsOfB) * kRowBytes / 4];
  for (int i = threadIdx.x; i < (kRowsOfA + kRowsOfB) * kRowBytes / 4; i += blockDim.x)
    matrices[i] = (random_bits(i) & Product::kRandom) | Product::kHalf;
  __syncthreads();
  asm volatile("fence.proxy.async;" ::: "memory");
  const unsigned long long a = describe(matrices), b = describe(matrices + kRowsOfA * kRowBytes / 4);
  float d[128] = {};
#pragma unroll 1
  for (long long i = 0; i < iterations; ++i) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < STEPS; ++step) Product::add(d, a, b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += d[i];
  out[thread_number()] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) wgmma_fp16(float* out, long long iterations) {
  run_products<Fp16>(out, iterations);
}

extern "C" __global__ void __launch_bounds__(THREADS) wgmma_bf16(float* out, long long iterations) {
  run_products<Bf16>(out, iterations);
}

extern "C" __global__ void __launch_bounds__(THREADS) wgmma_tf32(float* out, long long iterations) {
  run_products<Tf32>(out, iterations);
}
