// Pairs of segments for next-sentence prediction.
// Devlin et al. 2018, arXiv:1810.04805, appendix A.2; google-research/bert create_pretraining_data.py.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tbd {

// A text as tokens: sentence i is tokens sentence_ends[i - 1] to sentence_ends[i], document d the sentences
// document_ends[d - 1] to document_ends[d]; none is empty.
struct TokenizedText {
  std::vector<int32_t> tokens;
  std::vector<size_t> sentence_ends, document_ends;

  size_t sentence_begin(size_t sentence) const { return sentence == 0 ? 0 : sentence_ends[sentence - 1]; }
  size_t document_begin(size_t document) const { return document == 0 ? 0 : document_ends[document - 1]; }
};

// Segments A and B as ranges of tokens, before they are cut to length.
struct SegmentPair {
  size_t a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
  bool random_next = false;
};

// The pairs of all documents, `duplicates` times. Sentences are gathered up to a target of max_tokens, of one sample in
// ten a random one from 2 to max_tokens; A is a random number of them, at least one; B is with probability one half, or
// where one sentence is all there is, text from a random place of another document, whose unused sentences then serve
// the next sample; else what is left. Draws: stream data/pretraining_pairs (step = duplicate, sample = document).
// Unlike the reference, the target is drawn anew for every sample, not once a document.
std::vector<SegmentPair> pretraining_pairs(const TokenizedText& text, int64_t max_tokens, int64_t duplicates,
                                           uint64_t seed);

}  // namespace tbd
