#include "data/spectrogram.h"

#include <kiss_fftr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace tbd {
namespace {

constexpr size_t kWindow = 320, kHop = 160, kPad = 160;
constexpr auto kBins = static_cast<size_t>(kSpectrogramBins);

std::array<float, kWindow> hamming() {
  std::array<float, kWindow> window{};
  for (size_t n = 0; n < kWindow; ++n)
    window[n] = static_cast<float>(0.54 - 0.46 * std::cos(2 * std::numbers::pi * static_cast<double>(n) / kWindow));
  return window;
}

}  // namespace

struct Spectrogram::Tables {
  struct Freer {
    void operator()(kiss_fftr_state* plan) const { ::kiss_fftr_free(plan); }
  };
  std::unique_ptr<kiss_fftr_state, Freer> plan{::kiss_fftr_alloc(kWindow, 0, nullptr, nullptr)};
  std::array<float, kWindow> window = hamming();
  std::array<float, kWindow> frame{};
  std::array<kiss_fft_cpx, kBins> bins{};
};

int64_t spectrogram_frames(int64_t samples) { return 1 + samples / static_cast<int64_t>(kHop); }

Spectrogram::Spectrogram() : tables_(std::make_unique<Tables>()) {}
Spectrogram::~Spectrogram() = default;
Spectrogram::Spectrogram(Spectrogram&&) noexcept = default;

std::span<const float> Spectrogram::of(std::span<const float> samples) {
  require(samples.size() > kPad, samples.size(), " samples at 16 kHz, of which a spectrogram needs ", kPad + 1);
  padded_.resize(samples.size() + 2 * kPad);
  std::ranges::copy(samples, padded_.begin() + kPad);
  for (size_t i = 1; i <= kPad; ++i) {
    padded_[kPad - i] = samples[i];
    padded_[kPad + samples.size() - 1 + i] = samples[samples.size() - 1 - i];
  }
  transform(samples);
  normalise();
  return out_;
}

void Spectrogram::transform(std::span<const float> samples) {
  const auto frames = static_cast<size_t>(spectrogram_frames(static_cast<int64_t>(samples.size())));
  out_.resize(kBins * frames);
  Tables& t = *tables_;
  for (size_t f = 0; f < frames; ++f) {
    for (size_t n = 0; n < kWindow; ++n) t.frame[n] = padded_[f * kHop + n] * t.window[n];
    ::kiss_fftr(t.plan.get(), t.frame.data(), t.bins.data());
    for (size_t b = 0; b < kBins; ++b) out_[b * frames + f] = std::log1p(std::hypot(t.bins[b].r, t.bins[b].i));
  }
}

void Spectrogram::normalise() {
  const auto count = static_cast<double>(out_.size());
  double sum = 0, squares = 0;
  for (const float value : out_) sum += value;
  const double mean = sum / count;
  for (const float value : out_) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  require(deviation > 1e-8, "all bins of the spectrogram are alike: a silent recording");
  for (float& value : out_) value = static_cast<float>((value - mean) / deviation);
}

}  // namespace tbd
