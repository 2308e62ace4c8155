// The two inner loops of resampling. The same sums in the same order on every machine, so the same bits.
#pragma once
#include <cstdint>

#include "data/axis_filter.h"

namespace tbd {

// out[i] = sum over k < taps of weights[k] * rows[k][i], i < count.
void mix_rows(const uint8_t* const* rows, const float* weights, int64_t taps, int64_t count, float* out);

// planes[c * plane + j] = scale[c] * (sum over k of filter.row(j)[k] * rgb[3 * (filter.first[j] + k) + c]) + shift[c].
// One float past the last pixel of `rgb` is read and ignored.
void filter_row(const AxisFilter& filter, const float* rgb, const float* scale, const float* shift, float* planes,
                int64_t plane);

}  // namespace tbd
