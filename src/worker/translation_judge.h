// Networks that translate, one word after the other.
#pragma once
#include "worker/judge.h"

namespace tbd {

inline constexpr int64_t kTranslated = 64;  // sentences of the held-out set that are translated, in its order

// Answers logits (N, T, V) against src (N, S), src_len (N), tgt_in and tgt_out (N, T) of the data. What
// prediction_judge says of the words behind the reference's own (`accuracy`, `perplexity`), and of the first sentences
// (kTranslated) that the network translates by itself: bleu, 0 to 100, of beam search (quality/beam_search.h) with four
// beams and a length penalty of 0.6; greedy_bleu, of one beam; bleu_sentences, how many they are.
//
// A sentence has at most 50 tokens more than its source, and at most T; padding, the begin and rows of the network
// without a word are never written. Pieces of byte-pair encoding are joined to words, and these stand between spaces.
// The reference is the line of the file, its pieces joined where the file itself has them. The decoder runs on each
// prefix anew: what it answers for a place must not depend on what stands behind it.
std::unique_ptr<Judge> translation_judge(const SourceSpec& data, const Phase& phase, Network network);

}  // namespace tbd
