// One or two segments as the inputs of BERT: [CLS] a [SEP] b [SEP], padded.
#pragma once
#include <span>

#include "data/samples.h"

namespace tbd {

struct SequenceIds {
  int32_t pad = 0, cls = 2, sep = 3;
};
// Fills input_ids, token_type_ids (1 for b and its [SEP]) and attention_mask (1 = valid); the valid length.
// a.size() + b.size() + 3 must not exceed the row.
size_t write_segments(const SequenceIds& ids, std::span<const int32_t> a, std::span<const int32_t> b, const Row& row);
// The three tensors (S).
std::vector<SampleTensor> segment_layout(int64_t length);
// count/tokens and count/slots by the attention mask.
void add_segment_counts(TensorMap& batch);

}  // namespace tbd
