// Bandwidth of device memory over three arrays in a row, a, b and c, in words of 128 bits: copy a <- b, triad
// a <- b + s c (McCalpin's STREAM). `vectors`: words of one array, a multiple of STEPS times the threads of the launch. A
// thread has STEPS words of each operand under way at once.

extern "C" __global__ void __launch_bounds__(THREADS) fill(float4* arrays, long long passes, long long vectors) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = thread_number(); i < 3 * vectors; i += stride) {
    const float x = random_bits((unsigned)i) * 0x1p-32f;
    arrays[i] = make_float4(x, 1 - x, 2 - x, 3 - x);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) copy(float4* arrays, long long passes, long long vectors) {
  float4* const a = arrays;
  const float4* const b = arrays + vectors;
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long pass = 0; pass < passes; ++pass) {
#pragma unroll 1
    for (long long i = thread_number(); i < vectors; i += STEPS * stride) {
      float4 x[STEPS];
#pragma unroll
      for (int step = 0; step < STEPS; ++step) x[step] = b[i + step * stride];
#pragma unroll
      for (int step = 0; step < STEPS; ++step) a[i + step * stride] = x[step];
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) triad(float4* arrays, long long passes, long long vectors) {
  float4* const a = arrays;
  const float4* const b = arrays + vectors;
  const float4* const c = arrays + 2 * vectors;
  const float s = 3;
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long pass = 0; pass < passes; ++pass) {
#pragma unroll 1
    for (long long i = thread_number(); i < vectors; i += STEPS * stride) {
      float4 x[STEPS], y[STEPS];
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        x[step] = b[i + step * stride];
        y[step] = c[i + step * stride];
      }
#pragma unroll
      for (int step = 0; step < STEPS; ++step)
        a[i + step * stride] = make_float4(x[step].x + s * y[step].x, x[step].y + s * y[step].y,
                                           x[step].z + s * y[step].z, x[step].w + s * y[step].w);
    }
  }
}
