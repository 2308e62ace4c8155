// Rows of T + 1 tokens for language models: documents one after the other, packed across their borders.
#pragma once
#include <memory>
#include <span>

#include "data/samples.h"
#include "data/text/byte_bpe.h"

namespace tbd {

// ids = the row without its last token, labels = without its first; (T) each.
void write_packed(std::span<const int32_t> tokens, const Row& row);
BatchLayout packed_layout(const TextSpec& spec, int64_t samples);
// count/tokens and count/slots, which are equal.
void add_packed_counts(TensorMap& batch);

// Path's plain text, the lines of a document joined by line feeds, each document ended by eos; tokens by
// path/tokenizer.json, or path/<vocabulary_file>, or bytes and merges learnt from the training text, as many as
// spec.text.vocabulary (0: 32,000) leaves room for. Row i is tokens i (T + 1) to (i + 1)(T + 1); the rest is dropped.
ByteBpe packed_tokenizer(const SourceSpec& spec);
std::unique_ptr<Samples> packed_text_samples(const SourceSpec& spec);

}  // namespace tbd
