// Batches for BERT's pre-training: masked tokens and next-sentence labels.
#pragma once
#include <memory>
#include <span>

#include "data/samples.h"
#include "data/text/masking.h"
#include "data/text/sequences.h"
#include "data/text/wordpiece.h"

namespace tbd {

// One sample: the segments as write_segments has them, with tokens of a and b masked by mask_tokens;
// masked_positions, masked_labels (0 where unused), masked_weights (1 where used), next_label (1 = random next).
struct PretrainingSample {
  std::span<const int32_t> a, b;
  bool random_next = false;
};
void write_pretraining(const SequenceIds& ids, const MaskPolicy& policy, const PretrainingSample& sample, Draws& draws,
                       const Row& row);
BatchLayout pretraining_layout(const TextSpec& spec, int64_t samples);
// count/mlm = sum of masked_weights, and the counts of segments.
void add_pretraining_counts(TensorMap& batch);

// Samples of path's plain text (PlainText, pretraining_pairs) with path/vocab.txt, or a vocabulary of
// spec.text.vocabulary pieces trained on the training text. A pair longer than S - 3 loses tokens of the longer side,
// of its front or back with equal probability, until it fits. Draws of sample i: stream data/pretraining (step = 0,
// sample = i), so it has the same masks in every epoch, as in the reference's files; spec.text.duplicates gives others.
WordPiece pretraining_vocabulary(const SourceSpec& spec);
std::unique_ptr<Samples> pretraining_samples(const SourceSpec& spec);

}  // namespace tbd
