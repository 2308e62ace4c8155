#include "data/speech/synthetic_speech.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/audio_resample.h"
#include "data/spectrogram.h"
#include "data/speech/speech.h"
#include "data/speech/speech_law.h"

namespace tbd {
namespace {

constexpr int64_t kFrameSamples = 160;  // samples of a frame

class SyntheticSpeech final : public Samples {
 public:
  explicit SyntheticSpeech(const SourceSpec& spec) : spec_(spec) {}
  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override {
    return speech_layout(spec_.speech, spec_.speech.buckets[bucket_of(step)], spec_.batch);
  }
  void add_counts(TensorMap& batch) const override { add_speech_counts(batch); }
  std::optional<int64_t> size() const override { return std::nullopt; }
  std::optional<int64_t> steps_per_epoch() const override { return std::nullopt; }

 private:
  size_t bucket_of(int64_t step) const {
    const std::vector<int64_t>& all = spec_.speech.buckets;
    if (spec_.speech.bucket) return static_cast<size_t>(std::ranges::find(all, *spec_.speech.bucket) - all.begin());
    Draws draws(Philox(spec_.seed, "data/synthetic_bucket", static_cast<uint32_t>(step)));
    return draw_speech_bucket(all, draws);
  }

  SourceSpec spec_;

  class Maker;
};

class SyntheticSpeech::Maker final : public SampleMaker {
 public:
  explicit Maker(const SyntheticSpeech& samples)
      : samples_(samples),
        stream_(samples.spec_.seed, "data/synthetic_speech"),
        noise_(samples.spec_.seed, "data/synthetic_noise") {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const auto s = static_cast<uint32_t>(step), n = static_cast<uint32_t>(slot);
    const SpeechSpec& speech = samples_.spec_.speech;
    Draws draws(stream_.at(s, n));
    const int64_t frames = draw_speech_frames(speech.buckets, samples_.bucket_of(step), draws);
    const std::vector<int32_t> labels = draw_speech_labels(frames, speech.labels, draws);
    sound(frames, labels, noise_.at(s, n));
    write_utterance(spectrogram_.of(recording_), labels, row);
  }

 private:
  void sound(int64_t frames, const std::vector<int32_t>& labels, const Philox& noise) {
    recording_.resize(static_cast<size_t>(std::max((frames - 1) * kFrameSamples, kLeastSpeechSamples)));
    for (size_t i = 0; i < recording_.size(); ++i) {
      const double hertz = 150 + 230 * labels[i * labels.size() / recording_.size()];
      const double turns = static_cast<double>(i) * hertz / kSpeechRate;
      const double noisy = 0.05 * (2 * noise.uniform(i) - 1);
      recording_[i] = static_cast<float>(0.3 * std::sin(2 * std::numbers::pi * (turns - std::floor(turns))) + noisy);
    }
  }

  const SyntheticSpeech& samples_;
  Philox stream_, noise_;
  Spectrogram spectrogram_;
  std::vector<float> recording_;
};

std::unique_ptr<SampleMaker> SyntheticSpeech::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

std::unique_ptr<Samples> synthetic_speech_samples(const SourceSpec& spec) {
  return std::make_unique<SyntheticSpeech>(spec);
}

}  // namespace tbd
