// The loops themselves, x86-64. Vector kernels iterate x <- c - x*x with 1.5 < c < 2 in every lane: one fused
// multiply-add whose values stay in [-2, 2] and never settle, so the multiplier sees new bits each time.
#pragma once
#ifdef __x86_64__
#include <cstdint>

extern "C" {
void tbd_loop_fma256_fp32(void* data, int64_t iterations);
void tbd_loop_fma512_fp32(void* data, int64_t iterations);
void tbd_loop_fma256_fp64(void* data, int64_t iterations);
void tbd_loop_fma512_fp64(void* data, int64_t iterations);
void tbd_loop_fma512_fp16(void* data, int64_t iterations);
void tbd_loop_avx512_bf16(void* data, int64_t iterations);
void tbd_loop_amx_bf16(void* data, int64_t iterations);
}
#endif
