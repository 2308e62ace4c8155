// Batches of speech for deep_speech_2.
#pragma once
#include <memory>
#include <span>

#include "data/samples.h"

namespace tbd {

// spect f32 (1, 161, T), frames i32, labels i32 (U), label_len i32 of one sample in a bucket of T frames.
BatchLayout speech_layout(const SpeechSpec& spec, int64_t bucket, int64_t samples);
// Pads at the right: the spectrogram, 161 x its frames, with 0, which is its mean; the labels with 0.
void write_utterance(std::span<const float> spectrogram, std::span<const int32_t> labels, const Row& row);
// count/frames and count/frame_slots: frames of the recordings and of the batch with its padding; count/seconds and
// count/second_slots: the same in seconds of audio, a hundredth a frame.
void add_speech_counts(TensorMap& batch);

// Throws as Utterances and SpeechOrder.
std::unique_ptr<Samples> speech_samples(const SourceSpec& spec);

}  // namespace tbd
