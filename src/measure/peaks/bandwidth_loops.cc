#include "measure/peaks/bandwidth_loops.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace {
constexpr double kScale = 0.42;
}

void tbd_loop_triad(double* a, const double* b, const double* c, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) a[i] = b[i] + kScale * c[i];
  asm volatile("" : : "r"(a) : "memory");  // the stores are wanted
}

void tbd_loop_copy(double* a, const double* b, const double*, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) {
    a[i] = b[i];
    asm volatile("" : : : "memory");  // or the compiler calls memcpy, which chooses its own stores
  }
}

#ifdef __x86_64__

__attribute__((target("avx2,fma"))) void tbd_loop_triad_avx2(double* a, const double* b, const double* c,
                                                             int64_t elements) {
  const __m256d scale = _mm256_set1_pd(kScale);
  for (int64_t i = 0; i < elements; i += 8) {
    _mm256_store_pd(a + i, _mm256_fmadd_pd(_mm256_load_pd(c + i), scale, _mm256_load_pd(b + i)));
    _mm256_store_pd(a + i + 4, _mm256_fmadd_pd(_mm256_load_pd(c + i + 4), scale, _mm256_load_pd(b + i + 4)));
  }
}

__attribute__((target("avx2,fma"))) void tbd_loop_copy_avx2(double* a, const double* b, const double*,
                                                            int64_t elements) {
  for (int64_t i = 0; i < elements; i += 8) {
    _mm256_store_pd(a + i, _mm256_load_pd(b + i));
    _mm256_store_pd(a + i + 4, _mm256_load_pd(b + i + 4));
  }
}

__attribute__((target("avx2,fma"))) void tbd_loop_triad_nt(double* a, const double* b, const double* c,
                                                           int64_t elements) {
  const __m256d scale = _mm256_set1_pd(kScale);
  for (int64_t i = 0; i < elements; i += 8) {
    _mm256_stream_pd(a + i, _mm256_fmadd_pd(_mm256_load_pd(c + i), scale, _mm256_load_pd(b + i)));
    _mm256_stream_pd(a + i + 4, _mm256_fmadd_pd(_mm256_load_pd(c + i + 4), scale, _mm256_load_pd(b + i + 4)));
  }
  _mm_sfence();
}

__attribute__((target("avx2,fma"))) void tbd_loop_copy_nt(double* a, const double* b, const double*, int64_t elements) {
  for (int64_t i = 0; i < elements; i += 8) {
    _mm256_stream_pd(a + i, _mm256_load_pd(b + i));
    _mm256_stream_pd(a + i + 4, _mm256_load_pd(b + i + 4));
  }
  _mm_sfence();
}
#endif
