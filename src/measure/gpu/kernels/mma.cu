// Products of small matrices by the tensor core of a warp, D <- A B + D (PTX ISA, "mma"). A warp holds CHAINS sums D that
// do not wait for each other and adds STEPS products to each of them an iteration. A and B are random numbers of both
// signs and of magnitude [0.5, 1).

__device__ unsigned fp16_pair(unsigned word) { return (random_bits(word) & 0x83ff83ffu) | 0x38003800u; }

// A product: kA and kB registers of A and B, kD of D.
struct Fp16Short {
  using In = unsigned;
  using Sum = float;
  static constexpr int kA = 2, kB = 1, kD = 4;
  static __device__ In in(unsigned word) { return fp16_pair(word); }
  static __device__ void add(const In* a, const In* b, Sum* d) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
};

#if __CUDA_ARCH__ >= 800
struct Fp16 {
  using In = unsigned;
  using Sum = float;
  static constexpr int kA = 4, kB = 2, kD = 4;
  static __device__ In in(unsigned word) { return fp16_pair(word); }
  static __device__ void add(const In* a, const In* b, Sum* d) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Bf16 : Fp16 {
  static __device__ In in(unsigned word) { return (random_bits(word) & 0x807f807fu) | 0x3f003f00u; }
  static __device__ void add(const In* a, const In* b, Sum* d) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Tf32 : Fp16 {
  static __device__ In in(unsigned word) { return (random_bits(word) & 0x807fffffu) | 0x3f000000u; }
  static __device__ void add(const In* a, const In* b, Sum* d) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Fp64 {
  using In = double;
  using Sum = double;
  static constexpr int kA = 1, kB = 1, kD = 2;
  static __device__ In in(unsigned word) {
    const unsigned bits = random_bits(word);
    return __hiloint2double((bits & 0x800fffffu) | 0x3fe00000u, bits);
  }
  static __device__ void add(const In* a, const In* b, Sum* d) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a[0]), "d"(b[0]));
  }
};
#endif

#if __CUDA_ARCH__ >= 900
struct Fp64Long : Fp64 {
  static constexpr int kA = 8, kB = 4, kD = 4;
  static __device__ void add(const In* a, const In* b, Sum* d) {
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]));
  }
};
#endif

template <class Product>
__device__ void run_products(typename Product::Sum* out, long long iterations) {
  typename Product::In a[Product::kA], b[Product::kB];
  typename Product::Sum d[CHAINS][Product::kD];
#pragma unroll
  for (int i = 0; i < Product::kA; ++i) a[i] = Product::in(i);
#pragma unroll
  for (int i = 0; i < Product::kB; ++i) b[i] = Product::in(Product::kA + i);
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) {
#pragma unroll
    for (int i = 0; i < Product::kD; ++i) d[chain][i] = chain + i;  // alike, all chains would be one
  }
#pragma unroll 1
  for (long long i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
#pragma unroll
      for (int chain = 0; chain < CHAINS; ++chain) Product::add(a, b, d[chain]);
    }
  }
  typename Product::Sum sum = 0;
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) {
#pragma unroll
    for (int i = 0; i < Product::kD; ++i) sum += d[chain][i];
  }
  out[thread_number()] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) mma_fp16_k8(float* out, long long iterations) {
  run_products<Fp16Short>(out, iterations);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void __launch_bounds__(THREADS) mma_fp16(float* out, long long iterations) {
  run_products<Fp16>(out, iterations);
}

extern "C" __global__ void __launch_bounds__(THREADS) mma_bf16(float* out, long long iterations) {
  run_products<Bf16>(out, iterations);
}

extern "C" __global__ void __launch_bounds__(THREADS) mma_tf32(float* out, long long iterations) {
  run_products<Tf32>(out, iterations);
}

extern "C" __global__ void __launch_bounds__(THREADS) mma_fp64(double* out, long long iterations) {
  run_products<Fp64>(out, iterations);
}
#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __launch_bounds__(THREADS) mma_fp64_k16(double* out, long long iterations) {
  run_products<Fp64Long>(out, iterations);
}
#endif
