#include "measure/peaks/loops.h"

#ifdef __x86_64__

// 12 chains, 24 instructions an iteration.
__attribute__((target("avx2,fma"))) void tbd_loop_fma256_fp32(void* data, int64_t iterations) {
  asm volatile(
      "vmovups (%[data]), %%ymm15\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vmovups 32+32*\\i(%[data]), %%ymm\\i\n"
      ".endr\n"
      "1:\n"
      ".rept 2\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vfnmadd213ps %%ymm15, %%ymm\\i, %%ymm\\i\n"
      ".endr\n"
      ".endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      "vmovups %%ymm0, (%[data])\n"
      "vzeroupper\n"
      : [n] "+r"(iterations)
      : [data] "r"(data)
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm15");
}

// 24 chains, 48 instructions an iteration.
__attribute__((target("avx512f"))) void tbd_loop_fma512_fp32(void* data, int64_t iterations) {
  asm volatile(
      "vmovups (%[data]), %%zmm31\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vmovups 64+64*\\i(%[data]), %%zmm\\i\n"
      ".endr\n"
      "1:\n"
      ".rept 2\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vfnmadd213ps %%zmm31, %%zmm\\i, %%zmm\\i\n"
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
        "xmm23", "xmm31");
}

// 12 chains, 24 instructions an iteration.
__attribute__((target("avx2,fma"))) void tbd_loop_fma256_fp64(void* data, int64_t iterations) {
  asm volatile(
      "vmovupd (%[data]), %%ymm15\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vmovupd 32+32*\\i(%[data]), %%ymm\\i\n"
      ".endr\n"
      "1:\n"
      ".rept 2\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vfnmadd213pd %%ymm15, %%ymm\\i, %%ymm\\i\n"
      ".endr\n"
      ".endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      "vmovupd %%ymm0, (%[data])\n"
      "vzeroupper\n"
      : [n] "+r"(iterations)
      : [data] "r"(data)
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm15");
}

// 24 chains, 48 instructions an iteration.
__attribute__((target("avx512f"))) void tbd_loop_fma512_fp64(void* data, int64_t iterations) {
  asm volatile(
      "vmovupd (%[data]), %%zmm31\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vmovupd 64+64*\\i(%[data]), %%zmm\\i\n"
      ".endr\n"
      "1:\n"
      ".rept 2\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vfnmadd213pd %%zmm31, %%zmm\\i, %%zmm\\i\n"
      ".endr\n"
      ".endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      "vmovupd %%zmm0, (%[data])\n"
      "vzeroupper\n"
      : [n] "+r"(iterations)
      : [data] "r"(data)
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",
        "xmm23", "xmm31");
}

// 24 chains, 48 instructions an iteration.
__attribute__((target("avx512f"))) void tbd_loop_fma512_fp16(void* data, int64_t iterations) {
  asm volatile(
      "vmovups (%[data]), %%zmm31\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vmovups 64+64*\\i(%[data]), %%zmm\\i\n"
      ".endr\n"
      "1:\n"
      ".rept 2\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vfnmadd213ph %%zmm31, %%zmm\\i, %%zmm\\i\n"
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
        "xmm23", "xmm31");
}

#endif
