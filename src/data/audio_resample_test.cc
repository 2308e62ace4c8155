#include "data/audio_resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd {
namespace {

double sine_at(double hertz, int64_t rate, size_t sample) {
  return 0.5 * std::sin(2 * M_PI * hertz * static_cast<double>(sample) / static_cast<double>(rate));
}
std::vector<float> tone_at_rate(double hertz, int64_t rate, size_t samples) {
  std::vector<float> out(samples);
  for (size_t i = 0; i < samples; ++i) out[i] = static_cast<float>(sine_at(hertz, rate, i));
  return out;
}

TEST(AudioResample, LengthsAreRounded) {
  EXPECT_EQ(resampled_length(100, 8000, 16000), 200);
  EXPECT_EQ(resampled_length(3, 44100, 16000), 1);
  EXPECT_EQ(resampled_length(4, 44100, 16000), 1);
  EXPECT_EQ(resampled_length(5, 44100, 16000), 2);
  EXPECT_EQ(resampled_length(1, 32000, 16000), 1);  // one half
}

// A tone stays that tone, in frequency, height and phase.
TEST(AudioResample, KeepsATone) {
  for (const int64_t from : {8000, 11025, 22050, 44100, 48000}) {
    const std::vector<float> out = resampled(tone_at_rate(440, from, static_cast<size_t>(from)), from, kSpeechRate);
    ASSERT_EQ(out.size(), 16000) << from;
    double worst = 0;
    for (size_t i = 2000; i < 14000; ++i) worst = std::max(worst, std::abs(out[i] - sine_at(440, kSpeechRate, i)));
    EXPECT_LT(worst, 1e-3) << from;
  }
}

// 12 kHz cannot be written at 16 kHz: it must go and not come back as 4 kHz.
TEST(AudioResample, RemovesFrequenciesAboveNyquist) {
  const std::vector<float> out = resampled(tone_at_rate(12000, 48000, 48000), 48000, kSpeechRate);
  for (size_t i = 2000; i < 14000; ++i) ASSERT_LT(std::abs(out[i]), 1e-4);
}

TEST(AudioResample, EqualRatesChangeNothing) {
  const std::vector<float> in = tone_at_rate(1234, kSpeechRate, 100);
  EXPECT_EQ(resampled(in, kSpeechRate, kSpeechRate), in);
}

TEST(AudioResample, RefusesRatesThatAreTooFarApart) {
  EXPECT_THROW(resampled(std::vector<float>(1000), 1, kSpeechRate), Error);
}

}  // namespace
}  // namespace tbd
