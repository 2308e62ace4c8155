#include "measure/peaks/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "measure/peaks/loops.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tbd {

#ifdef __x86_64__
namespace {

std::string absent(bool present, std::string_view feature) {
  return present ? "" : "this processor or system has no " + std::string(feature);
}

// Bits of EDX of CPUID leaf 7: Intel's manual, volume 2, CPUID.
bool leaf7_edx(int bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> bit & 1);
}

std::string needs_fma() {
  return absent(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), "AVX2 with FMA");
}
std::string needs_avx512() { return absent(__builtin_cpu_supports("avx512f"), "AVX-512"); }
std::string needs_fp16() { return absent(__builtin_cpu_supports("avx512f") && leaf7_edx(23), "AVX512_FP16"); }
std::string needs_bf16() { return absent(__builtin_cpu_supports("avx512bf16"), "AVX512_BF16"); }

// The system hands out the tile registers on request (Linux, Documentation/arch/x86/xstate.rst).
std::string needs_amx() {
  if (!leaf7_edx(22) || !leaf7_edx(24)) return absent(false, "AMX with bf16");
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return "the system refuses the AMX tile registers";
  return "";
}

constexpr FlopKernel kKernels[] = {
    {"fma256", "fp32", "vector", "vfnmadd213ps", "tbd_loop_fma256_fp32", 24, 16, tbd_loop_fma256_fp32, needs_fma},
    {"fma512", "fp32", "vector", "vfnmadd213ps", "tbd_loop_fma512_fp32", 48, 32, tbd_loop_fma512_fp32, needs_avx512},
    {"fma256", "fp64", "vector", "vfnmadd213pd", "tbd_loop_fma256_fp64", 24, 8, tbd_loop_fma256_fp64, needs_fma},
    {"fma512", "fp64", "vector", "vfnmadd213pd", "tbd_loop_fma512_fp64", 48, 16, tbd_loop_fma512_fp64, needs_avx512},
    {"fma512", "fp16", "vector", "vfnmadd213ph", "tbd_loop_fma512_fp16", 48, 64, tbd_loop_fma512_fp16, needs_fp16},
    {"avx512_bf16", "bf16", "vector", "vdpbf16ps", "tbd_loop_avx512_bf16", 48, 64, tbd_loop_avx512_bf16, needs_bf16},
    {"amx_bf16", "bf16", "matrix", "tdpbf16ps", "tbd_loop_amx_bf16", 16, 2 * 16 * 16 * 32, tbd_loop_amx_bf16,
     needs_amx},
};

}  // namespace

std::span<const FlopKernel> flop_kernels() { return kKernels; }
#else
std::span<const FlopKernel> flop_kernels() { return {}; }
#endif

namespace {

// Random numbers of [low, high) without the cost of a good generator: splitmix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  double next(double low, double high) {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return low + (high - low) * static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

template <class T, class Convert>
void fill(void* data, Random& random, int64_t constants, Convert convert) {
  auto* const values = static_cast<T*>(data);
  const int64_t count = kKernelDataBytes / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i) values[i] = convert(i < constants ? random.next(1.6, 1.99) : random.next(-1, 1));
}

uint16_t bf16_bits(double value) {
  const float narrow = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

// Normal halves only: the magnitude is kept in [2^-10, 2).
uint16_t fp16_bits(double value) {
  int exponent = 0;
  const double magnitude = std::max(std::abs(value), 0x1p-10);
  const double mantissa = std::frexp(magnitude, &exponent);  // [0.5, 1)
  const auto fraction = static_cast<uint16_t>((mantissa * 2 - 1) * 1024);
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent - 1 + 15) << 10 | fraction);
}

}  // namespace

void fill_kernel_data(const FlopKernel& kernel, uint64_t seed, void* data) {
  Random random(seed);
  if (kernel.type == "fp32") fill<float>(data, random, 16, [](double v) { return static_cast<float>(v); });
  if (kernel.type == "fp64") fill<double>(data, random, 8, [](double v) { return v; });
  if (kernel.type == "bf16") fill<uint16_t>(data, random, 0, bf16_bits);
  if (kernel.type == "fp16") fill<uint16_t>(data, random, 32, fp16_bits);
}

}  // namespace tbd
