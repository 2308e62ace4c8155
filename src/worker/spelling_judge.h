// Networks that spell speech by connectionist temporal classification.
#pragma once
#include "worker/judge.h"

namespace tbd {

// Answers logits (N, T', labels) against frames (N), labels (N, U) and label_len (N) of the data, with the alphabet and
// the steps of data/transcripts.h: best path decoding, then wer and cer, errors of words and characters over those that
// were said in the whole set.
std::unique_ptr<Judge> spelling_judge();

}  // namespace tbd
