#include "measure/peaks/loops.h"

#ifdef __x86_64__

// 24 chains, four pairs of operands, 48 instructions an iteration: each lane adds two products of bf16 to an fp32 sum.
__attribute__((target("avx512f"))) void tbd_loop_avx512_bf16(void* data, int64_t iterations) {
  asm volatile(
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vpxord %%zmm\\i, %%zmm\\i, %%zmm\\i\n"
      ".endr\n"
      ".irp i,24,25,26,27,28,29,30,31\n"
      "vmovups 64*(\\i-24)(%[data]), %%zmm\\i\n"
      ".endr\n"
      "1:\n"
      ".rept 2\n"
      ".irp i,0,4,8,12,16,20\n"
      "vdpbf16ps %%zmm28, %%zmm24, %%zmm\\i\n"
      ".endr\n"
      ".irp i,1,5,9,13,17,21\n"
      "vdpbf16ps %%zmm29, %%zmm25, %%zmm\\i\n"
      ".endr\n"
      ".irp i,2,6,10,14,18,22\n"
      "vdpbf16ps %%zmm30, %%zmm26, %%zmm\\i\n"
      ".endr\n"
      ".irp i,3,7,11,15,19,23\n"
      "vdpbf16ps %%zmm31, %%zmm27, %%zmm\\i\n"
      ".endr\n"
      ".endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      "vmovups %%zmm0, (%[data])\n"
      "vzeroupper\n"
      : [n] "+r"(iterations)
      : [data] "r"(data)
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",
        "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

// Four sums of two by two tiles, 16 instructions an iteration: each adds a 16x32 by 32x16 product of bf16.
void tbd_loop_amx_bf16(void* data, int64_t iterations) {
  static constexpr struct alignas(64) TileConfig {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } kConfig;
  static_assert(sizeof(TileConfig) == 64);
  asm volatile(
      "ldtilecfg (%[config])\n"
      ".irp i,0,1,2,3\n"
      "tilezero %%tmm\\i\n"
      ".endr\n"
      "tileloadd (%[data],%[stride],1), %%tmm4\n"
      "tileloadd 1024(%[data],%[stride],1), %%tmm5\n"
      "tileloadd 2048(%[data],%[stride],1), %%tmm6\n"
      "tileloadd 3072(%[data],%[stride],1), %%tmm7\n"
      "1:\n"
      ".rept 4\n"
      "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n"
      "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n"
      "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n"
      "tdpbf16ps %%tmm7, %%tmm5, %%tmm3\n"
      ".endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      "tilestored %%tmm0, (%[data],%[stride],1)\n"
      "tilerelease\n"
      : [n] "+r"(iterations)
      : [data] "r"(data), [config] "r"(&kConfig), [stride] "r"(int64_t{64})
      : "cc", "memory");
}

#endif
