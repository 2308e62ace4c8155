// Another sample rate, through libsamplerate.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tbd {

inline constexpr int64_t kSpeechRate = 16000;  // samples per second of all speech models

// samples * to / from, rounded to the nearest; halves up.
int64_t resampled_length(int64_t samples, int64_t from, int64_t to);

// `samples` at the rate `to`, resampled_length of them, by the converter SRC_SINC_BEST_QUALITY of libsamplerate: a
// band-limited interpolation without delay (Smith 1984). Equal rates change nothing. Throws Error(invalid) when the
// rates are further apart than a factor of 256.
std::vector<float> resampled(std::span<const float> samples, int64_t from, int64_t to);

}  // namespace tbd
