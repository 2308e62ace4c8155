// What a speech network sees of a recording: SeanNaren/deepspeech.pytorch, SpectrogramParser, with librosa before 0.10.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tbd {

inline constexpr int64_t kSpectrogramBins = 161;
inline constexpr double kFrameSeconds = 0.01;
inline constexpr int64_t kLeastSpeechSamples = 161;  // fewer have nothing for both edges to reflect

// T = 1 + floor(samples / 160) for samples at 16 kHz.
int64_t spectrogram_frames(int64_t samples);

// Short-time Fourier transform of 16 kHz speech: frames of 320 samples every 160, the first centred on sample 0, the
// signal reflected by 160 samples at either end (the outermost sample is not repeated), under the periodic Hamming
// window 0.54 - 0.46 cos(2 pi n / 320). Of each bin log(1 + |X|); then the mean over all bins and frames is subtracted
// and the unbiased standard deviation over them divided by. Sums are in double; the transform is KissFFT's in float.
// Keeps its tables and buffers: one per thread.
class Spectrogram {
 public:
  Spectrogram();
  ~Spectrogram();
  Spectrogram(Spectrogram&&) noexcept;

  // 161 x T, row-major: bin, then frame. Throws Error(invalid) for fewer than kLeastSpeechSamples samples, and for
  // silence or another signal all of whose bins are alike.
  std::span<const float> of(std::span<const float> samples);

 private:
  struct Tables;
  void transform(std::span<const float> samples);
  void normalise();

  std::unique_ptr<Tables> tables_;
  std::vector<float> padded_, out_;
};

}  // namespace tbd
