// How synthetic speech is distributed.
#pragma once
#include <cstdint>
#include <vector>

#include "data/text/draws.h"

namespace tbd {

// The share of LibriSpeech train-clean-100's utterances that last at most `seconds`, and its inverse: linear between
// the quantiles that k2-fsa/icefall prints for it (egs/librispeech/ASR/local/display_manifest_statistics.py: 85,617
// cuts, the 28,539 utterances at speeds 0.9, 1 and 1.1; mean 12.8 s, 1.3 to 27.2 s).
double duration_share(double seconds);
double duration_at(double share);

// Frames of an utterance that lies in `bucket` (frames of the one before < frames <= the bucket's); a bucket that that
// distribution does not reach is filled.
int64_t draw_speech_frames(const std::vector<int64_t>& buckets, size_t bucket, Draws& draws);
// A bucket, each with the share of the utterances that it holds; the last where the distribution reaches none.
size_t draw_speech_bucket(const std::vector<int64_t>& buckets, Draws& draws);

// Labels of words of random letters: 14.5 characters a second times exp(0.15 z), z normal, the rate and its spread
// being ours. Letters by their frequency in English (Lewand 2000, Cryptological Mathematics, p. 36), a space with
// probability 0.18, never at an end nor behind another. As many as there is room for: at most `places`, and fewer where
// the frames are too few for connectionist temporal classification; at least one.
std::vector<int32_t> draw_speech_labels(int64_t frames, int64_t places, Draws& draws);

}  // namespace tbd
