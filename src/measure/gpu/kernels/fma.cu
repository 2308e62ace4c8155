// Multiply-adds in registers, fp32 and fp64. A thread holds CHAINS chains x <- x x + c that do not wait for each other and
// makes STEPS steps in each of them an iteration. For c in (-1.99, -1.6) a chain stays in (-2, 2) and never settles.

// In [0, 1).
__device__ float random_number(unsigned word) { return random_bits(word) * 0x1p-32f; }

template <class Number>
__device__ void run_chains(Number* out, long long iterations) {
  const Number c = Number(-1.6f - 0.39f * random_number(CHAINS));
  Number x[CHAINS];
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) x[chain] = Number(2 * random_number(chain) - 1);
#pragma unroll 1
  for (long long i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
#pragma unroll
      for (int chain = 0; chain < CHAINS; ++chain) x[chain] = fma(x[chain], x[chain], c);
    }
  }
  Number sum = 0;
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) sum += x[chain];
  out[thread_number()] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) fma_fp32(float* out, long long iterations) {
  run_chains(out, iterations);
}

extern "C" __global__ void __launch_bounds__(THREADS) fma_fp64(double* out, long long iterations) {
  run_chains(out, iterations);
}
