// Multiply-adds of two 16-bit numbers at once: the chains of fma.cu in both halves of a register.

// kStart: the bits of 0.5 twice; kFraction may be added to them. kLow: the bits of -1.625 twice; kStep may be added to
// them, which ends before -1.88.
struct Fp16 {
  static constexpr unsigned kStart = 0x38003800u, kFraction = 0x03ff03ffu, kLow = 0xbe80be80u, kStep = 0x00ff00ffu;
  static __device__ void step(unsigned& x, unsigned c) { asm("fma.rn.f16x2 %0, %0, %0, %1;" : "+r"(x) : "r"(c)); }
};

#if __CUDA_ARCH__ >= 800
struct Bf16 {
  static constexpr unsigned kStart = 0x3f003f00u, kFraction = 0x007f007fu, kLow = 0xbfd0bfd0u, kStep = 0x001f001fu;
  static __device__ void step(unsigned& x, unsigned c) { asm("fma.rn.bf16x2 %0, %0, %0, %1;" : "+r"(x) : "r"(c)); }
};
#endif

template <class Pair>
__device__ void run_chains(unsigned* out, long long iterations) {
  const unsigned c = (random_bits(CHAINS) & Pair::kStep) + Pair::kLow;
  unsigned x[CHAINS];
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) x[chain] = (random_bits(chain) & Pair::kFraction) + Pair::kStart;
#pragma unroll 1
  for (long long i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
#pragma unroll
      for (int chain = 0; chain < CHAINS; ++chain) Pair::step(x[chain], c);
    }
  }
  unsigned all = 0;
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) all ^= x[chain];
  out[thread_number()] = all;
}

extern "C" __global__ void __launch_bounds__(THREADS) fma_fp16x2(unsigned* out, long long iterations) {
  run_chains<Fp16>(out, iterations);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void __launch_bounds__(THREADS) fma_bf16x2(unsigned* out, long long iterations) {
  run_chains<Bf16>(out, iterations);
}
#endif
