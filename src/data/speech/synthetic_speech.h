// Speech of tones with random labels, for measuring without a data set.
#pragma once
#include <memory>

#include "data/samples.h"

namespace tbd {

// Lengths and labels are drawn as speech_law.h says. The recording, 16 kHz, sounds its labels one after the other for
// equal times, label k as a tone of 150 + 230 k Hz and height 0.3 (28: 6,590 Hz), over uniform noise of height 0.05;
// its spectrogram is taken as of a file. Sines are the C library's: other libraries may give other last bits. Draws of
// a sample: stream data/synthetic_speech (step, sample = slot), noise: data/synthetic_noise (the same), of a batch's
// bucket, without spec.speech.bucket: data/synthetic_bucket (step). No end.
std::unique_ptr<Samples> synthetic_speech_samples(const SourceSpec& spec);

}  // namespace tbd
