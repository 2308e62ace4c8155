#include "data/spectrogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "base/philox.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing_text::refusal_of;

std::vector<float> noise(size_t samples) {
  const Philox stream(3, "test/noise");
  std::vector<float> out(samples);
  for (size_t i = 0; i < samples; ++i) out[i] = static_cast<float>(0.3 * stream.normal(i));
  return out;
}
std::vector<float> tone_at_16_khz(size_t samples, double hertz) {
  std::vector<float> out(samples);
  for (size_t i = 0; i < samples; ++i)
    out[i] = static_cast<float>(std::sin(2 * M_PI * hertz * static_cast<double>(i) / 16000));
  return out;
}

// |X| by its definition, in double: at [bin][frame], before the logarithm.
std::vector<double> direct(const std::vector<float>& x) {
  const auto size = static_cast<int64_t>(x.size());
  const int64_t frames = spectrogram_frames(size);
  std::vector<double> out;
  for (int64_t k = 0; k < 161; ++k)
    for (int64_t f = 0; f < frames; ++f) {
      std::complex<double> sum = 0;
      for (int64_t n = 0; n < 320; ++n) {
        int64_t at = f * 160 + n - 160;
        if (at < 0) at = -at;
        if (at >= size) at = 2 * (size - 1) - at;
        const double window = 0.54 - 0.46 * std::cos(2 * M_PI * static_cast<double>(n) / 320);
        sum +=
            window * x[static_cast<size_t>(at)] * std::polar(1.0, -2 * M_PI * static_cast<double>(k * n % 320) / 320);
      }
      out.push_back(std::abs(sum));
    }
  return out;
}

TEST(Spectrogram, IsTheDefinitionToFloatPrecision) {
  for (const size_t samples : {161, 319, 320, 321, 1000, 1600}) {
    const std::vector<float> x = noise(samples);
    std::vector<double> expected = direct(x);
    for (double& value : expected) value = std::log1p(value);
    const auto count = static_cast<double>(expected.size());
    const double mean = std::accumulate(expected.begin(), expected.end(), 0.0) / count;
    double squares = 0;
    for (const double value : expected) squares += (value - mean) * (value - mean);
    Spectrogram spectrogram;
    const auto found = spectrogram.of(x);
    ASSERT_EQ(found.size(), expected.size()) << samples;
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], (expected[i] - mean) / std::sqrt(squares / (count - 1)), 2e-5) << samples << " " << i;
  }
}

TEST(Spectrogram, HasAFrameEveryHundredthOfASecondAndOneMore) {
  for (const auto& [samples, frames] : std::vector<std::pair<size_t, int64_t>>{
           {161, 2}, {319, 2}, {320, 3}, {16000, 101}, {16159, 101}, {16160, 102}}) {
    EXPECT_EQ(spectrogram_frames(static_cast<int64_t>(samples)), frames);
    Spectrogram spectrogram;
    EXPECT_EQ(static_cast<int64_t>(spectrogram.of(noise(samples)).size()), 161 * frames);
  }
}

TEST(Spectrogram, PureTonePeaksInItsFrequencyBin) {
  for (const int64_t bin : {10, 57, 140}) {
    Spectrogram spectrogram;
    const auto found = spectrogram.of(tone_at_16_khz(8000, 50.0 * static_cast<double>(bin)));
    for (int64_t f = 1; f < 50; ++f) {
      int64_t loudest = 0;
      for (int64_t k = 0; k < 161; ++k)
        if (found[static_cast<size_t>(k * 51 + f)] > found[static_cast<size_t>(loudest * 51 + f)]) loudest = k;
      ASSERT_EQ(loudest, bin) << f;
    }
  }
}

// The unnormalised energy of a frame is that of its windowed samples (Parseval): checked on the definition used above,
// and through IsTheDefinitionToFloatPrecision on the transform.
TEST(Spectrogram, ReferenceTransformPreservesEnergy) {
  const std::vector<float> x = noise(480);
  const std::vector<double> magnitudes = direct(x);
  for (const int64_t f : {1, 2}) {
    double energy = 0, windowed = 0;
    for (int64_t k = 0; k < 161; ++k)
      energy += (k == 0 || k == 160 ? 1 : 2) * std::pow(magnitudes[static_cast<size_t>(k * 4 + f)], 2) / 320;
    for (int64_t n = 0; n < 320; ++n) {
      const double window = 0.54 - 0.46 * std::cos(2 * M_PI * static_cast<double>(n) / 320);
      windowed += std::pow(window * x[static_cast<size_t>(f * 160 - 160 + n)], 2);
    }
    EXPECT_NEAR(energy, windowed, 1e-9 * windowed);
  }
}

TEST(Spectrogram, HasMeanZeroAndUnbiasedVarianceOne) {
  Spectrogram spectrogram;
  const auto found = spectrogram.of(noise(5000));
  double sum = 0, squares = 0;
  for (const float value : found) {
    sum += value;
    squares += double{value} * value;
  }
  EXPECT_NEAR(sum, 0, 1e-2);
  EXPECT_NEAR(squares / static_cast<double>(found.size() - 1), 1, 1e-5);
}

TEST(Spectrogram, ReusedObjectGivesTheSameResultAsAFreshOne) {
  Spectrogram used, fresh;
  used.of(noise(9000));
  const auto again = used.of(tone_at_16_khz(700, 440)), first = fresh.of(tone_at_16_khz(700, 440));
  EXPECT_TRUE(std::ranges::equal(again, first));
}

TEST(Spectrogram, RefusesWhatIsTooShortOrSilent) {
  Spectrogram spectrogram;
  EXPECT_EQ(refusal_of([&] { spectrogram.of(noise(160)); }), "160 samples at 16 kHz, of which a spectrogram needs 161");
  EXPECT_EQ(refusal_of([&] { spectrogram.of(std::vector<float>(1000)); }),
            "all bins of the spectrogram are alike: a silent recording");
}

}  // namespace
}  // namespace tbd
