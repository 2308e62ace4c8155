#include "data/resample_rows.h"

#include <cstring>

// At -O2 GCC 12 leaves loops of unknown length scalar.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace tbd {
namespace {

using Pixel = float __attribute__((vector_size(16)));  // R, G, B and one lane to ignore
using Lanes = int32_t __attribute__((vector_size(16)));

[[gnu::always_inline]] inline Pixel load(const float* at) {
  Pixel value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
[[gnu::always_inline]] inline void store(Pixel value, float* at) { std::memcpy(at, &value, sizeof value); }
[[gnu::always_inline]] inline Pixel all(float value) { return Pixel{value, value, value, value}; }

template <int kTaps>
[[gnu::always_inline]] inline void mix(const uint8_t* const* rows, const float* weights, int64_t count,
                                       float* __restrict out) {
  const uint8_t* row[kTaps];
  float weight[kTaps];
  for (int k = 0; k < kTaps; ++k) {
    row[k] = rows[k];
    weight[k] = weights[k];
  }
  for (int64_t i = 0; i < count; ++i) {
    float sum = weight[0] * static_cast<float>(row[0][i]);
    for (int k = 1; k < kTaps; ++k) sum += weight[k] * static_cast<float>(row[k][i]);
    out[i] = sum;
  }
}

[[gnu::always_inline]] inline void mix_any(const uint8_t* const* rows, const float* weights, int64_t taps,
                                           int64_t count, float* __restrict out) {
  switch (taps) {
    case 1:
      return mix<1>(rows, weights, count, out);
    case 2:
      return mix<2>(rows, weights, count, out);
    case 3:
      return mix<3>(rows, weights, count, out);
    case 4:
      return mix<4>(rows, weights, count, out);
    case 5:
      return mix<5>(rows, weights, count, out);
    default:
      break;
  }
  mix<5>(rows, weights, count, out);
  for (int64_t k = 5; k < taps; ++k) {
    const uint8_t* row = rows[k];
    const float weight = weights[k];
    for (int64_t i = 0; i < count; ++i) out[i] += weight * static_cast<float>(row[i]);
  }
}

[[gnu::always_inline]] inline Pixel filtered(const float* rgb, const float* weights, int64_t taps) {
  Pixel sum = all(weights[0]) * load(rgb);
  for (int64_t k = 1; k < taps; ++k) sum += all(weights[k]) * load(rgb + 3 * k);
  return sum;
}

// `taps` is a constant where this is inlined, so the loop over it disappears.
[[gnu::always_inline]] inline void filter(const AxisFilter& f, int64_t taps, const float* rgb, const float* scale,
                                          const float* shift, float* planes, int64_t plane) {
  const int64_t count = f.size();
  const int64_t* first = f.first.data();
  const float* weights = f.weights.data();
  int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    Pixel p[4];
    for (int i = 0; i < 4; ++i) p[i] = filtered(rgb + 3 * first[j + i], weights + (j + i) * taps, taps);
    const Pixel rg01 = __builtin_shuffle(p[0], p[1], Lanes{0, 4, 1, 5});
    const Pixel rg23 = __builtin_shuffle(p[2], p[3], Lanes{0, 4, 1, 5});
    const Pixel b01 = __builtin_shuffle(p[0], p[1], Lanes{2, 6, 2, 6});
    const Pixel b23 = __builtin_shuffle(p[2], p[3], Lanes{2, 6, 2, 6});
    const Pixel red = __builtin_shuffle(rg01, rg23, Lanes{0, 1, 4, 5});
    const Pixel green = __builtin_shuffle(rg01, rg23, Lanes{2, 3, 6, 7});
    const Pixel blue = __builtin_shuffle(b01, b23, Lanes{0, 1, 4, 5});
    store(all(scale[0]) * red + all(shift[0]), planes + j);
    store(all(scale[1]) * green + all(shift[1]), planes + plane + j);
    store(all(scale[2]) * blue + all(shift[2]), planes + 2 * plane + j);
  }
  for (; j < count; ++j) {
    const Pixel p = filtered(rgb + 3 * first[j], weights + j * taps, taps);
    for (int c = 0; c < 3; ++c) planes[c * plane + j] = scale[c] * p[c] + shift[c];
  }
}

[[gnu::always_inline]] inline void filter_any(const AxisFilter& f, const float* rgb, const float* scale,
                                              const float* shift, float* planes, int64_t plane) {
  switch (f.taps) {
    case 2:
      return filter(f, 2, rgb, scale, shift, planes, plane);
    case 3:
      return filter(f, 3, rgb, scale, shift, planes, plane);
    case 4:
      return filter(f, 4, rgb, scale, shift, planes, plane);
    case 5:
      return filter(f, 5, rgb, scale, shift, planes, plane);
    default:
      return filter(f, f.taps, rgb, scale, shift, planes, plane);
  }
}

#if defined(__x86_64__)
// Without fma: a fused multiply-add would round differently from the plain version.
[[gnu::target("avx2")]] void mix_avx2(const uint8_t* const* rows, const float* weights, int64_t taps, int64_t count,
                                      float* out) {
  mix_any(rows, weights, taps, count, out);
}
[[gnu::target("avx2")]] void filter_avx2(const AxisFilter& f, const float* rgb, const float* scale, const float* shift,
                                         float* planes, int64_t plane) {
  filter_any(f, rgb, scale, shift, planes, plane);
}
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#endif

void mix_plain(const uint8_t* const* rows, const float* weights, int64_t taps, int64_t count, float* out) {
  mix_any(rows, weights, taps, count, out);
}
void filter_plain(const AxisFilter& f, const float* rgb, const float* scale, const float* shift, float* planes,
                  int64_t plane) {
  filter_any(f, rgb, scale, shift, planes, plane);
}

}  // namespace

void mix_rows(const uint8_t* const* rows, const float* weights, int64_t taps, int64_t count, float* out) {
#if defined(__x86_64__)
  if (has_avx2()) return mix_avx2(rows, weights, taps, count, out);
#endif
  mix_plain(rows, weights, taps, count, out);
}

void filter_row(const AxisFilter& f, const float* rgb, const float* scale, const float* shift, float* planes,
                int64_t plane) {
#if defined(__x86_64__)
  if (has_avx2()) return filter_avx2(f, rgb, scale, shift, planes, plane);
#endif
  filter_plain(f, rgb, scale, shift, planes, plane);
}

}  // namespace tbd
