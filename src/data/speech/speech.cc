#include "data/speech/speech.h"

#include <algorithm>

#include "base/error.h"
#include "data/audio_file.h"
#include "data/audio_resample.h"
#include "data/folder_listing.h"
#include "data/spectrogram.h"
#include "data/speech/speech_order.h"
#include "data/speech/utterances.h"

namespace tbd {
namespace {

class SpeechSamples final : public Samples {
 public:
  explicit SpeechSamples(const SourceSpec& spec)
      : spec_(spec), utterances_(spec), order_(spec, buckets_of(utterances_)) {}

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override {
    const BatchOrder::Batch batch = order_.batch(step);
    return speech_layout(spec_.speech, spec_.speech.buckets[batch.bucket], batch.samples);
  }
  void add_counts(TensorMap& batch) const override { add_speech_counts(batch); }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(utterances_.size()); }
  std::optional<int64_t> steps_per_epoch() const override { return order_.steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return recorded_hash(spec_.path); }
  std::vector<BadFile> bad_files() const override { return utterances_.left_out(); }
  std::vector<std::string> notes() const override { return utterances_.fitted(); }

 private:
  static std::vector<uint16_t> buckets_of(const Utterances& utterances) {
    std::vector<uint16_t> buckets;
    for (size_t i = 0; i < utterances.size(); ++i) buckets.push_back(static_cast<uint16_t>(utterances.bucket(i)));
    return buckets;
  }

  SourceSpec spec_;
  Utterances utterances_;
  SpeechOrder order_;

  class Maker;
};

class SpeechSamples::Maker final : public SampleMaker {
 public:
  explicit Maker(const SpeechSamples& samples) : samples_(samples) {}
  void make(int64_t step, int64_t slot, const Row& row) override {
    const uint32_t position = samples_.order_.position(step, slot);
    const std::filesystem::path file = samples_.utterances_.audio(position);
    const Audio audio = read_audio(file);
    try {
      const std::vector<float> speech = resampled(audio.samples, audio.rate, kSpeechRate);
      const int64_t frames = spectrogram_frames(static_cast<int64_t>(speech.size()));
      require(frames == samples_.utterances_.frames(position), "the recording changed while it was in use");
      write_utterance(spectrogram_.of(speech), samples_.utterances_.labels(position), row);
    } catch (const Error& e) {
      throw e.within(file.string());
    }
  }

 private:
  const SpeechSamples& samples_;
  Spectrogram spectrogram_;
};

std::unique_ptr<SampleMaker> SpeechSamples::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

BatchLayout speech_layout(const SpeechSpec& spec, int64_t bucket, int64_t samples) {
  return {.samples = samples,
          .tensors = {{"spect", DType::f32, {1, kSpectrogramBins, bucket}},
                      {"frames", DType::i32, {}},
                      {"labels", DType::i32, {spec.labels}},
                      {"label_len", DType::i32, {}}}};
}

void write_utterance(std::span<const float> spectrogram, std::span<const int32_t> labels, const Row& row) {
  constexpr auto kBins = static_cast<size_t>(kSpectrogramBins);
  const std::span<float> spect = row.floats("spect");
  const std::span<int32_t> places = row.ints("labels");
  const size_t frames = spectrogram.size() / kBins, bucket = spect.size() / kBins;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const auto end = std::ranges::copy(spectrogram.subspan(bin * frames, frames), spect.begin() + bin * bucket).out;
    std::fill(end, spect.begin() + (bin + 1) * bucket, 0.f);
  }
  std::fill(std::ranges::copy(labels, places.begin()).out, places.end(), 0);
  row.ints("frames")[0] = static_cast<int32_t>(frames);
  row.ints("label_len")[0] = static_cast<int32_t>(labels.size());
}

void add_speech_counts(TensorMap& batch) {
  const Shape& shape = batch.at("spect").shape();
  double frames = 0;
  for (const int32_t length : batch.at("frames").as<int32_t>()) frames += length;
  const auto slots = static_cast<double>(shape[0] * shape[3]);
  set_count(batch, "frames", frames);
  set_count(batch, "frame_slots", slots);
  set_count(batch, "seconds", frames * kFrameSeconds);
  set_count(batch, "second_slots", slots * kFrameSeconds);
}

std::unique_ptr<Samples> speech_samples(const SourceSpec& spec) { return std::make_unique<SpeechSamples>(spec); }

}  // namespace tbd
