// Batches of sentence pairs for seq2seq and transformer.
#pragma once
#include <memory>
#include <span>

#include "data/samples.h"

namespace tbd {

// The inputs of one pair in a bucket of S and T slots, right-padded: src = words, src_len, tgt_in = start, words;
// tgt_out = words, eos. The start is eos, or bos by spec.start_with_bos.
void write_pair(const TextSpec& spec, std::span<const int32_t> source, std::span<const int32_t> target, const Row& row);
BatchLayout pair_layout(const Bucket& bucket, int64_t samples);
void add_pair_counts(const TextSpec& spec, TensorMap& batch);
// Samples of a batch in `bucket`: batch, or with target_slots as many as fit, at least one.
int64_t pairs_of_batch(const SourceSpec& spec, const Bucket& bucket);

// Throws as ParallelText and BatchOrder.
std::unique_ptr<Samples> parallel_text_samples(const SourceSpec& spec);

}  // namespace tbd
