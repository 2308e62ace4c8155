// Byte-level byte-pair encoding: tokens are bytes and what merging frequent pairs of them gives.
// Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.2.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/merges.h"

namespace tbd {

// Text cut before merging, so that no token spans words: an English contraction ('s, 't, 're, 've, 'm, 'll, 'd), or
// letters, or numbers, or other signs, each with at most one space before; white space stands by itself, and leaves its
// last space to the word that follows. The concatenation of the parts is the text.
std::vector<std::string_view> byte_bpe_words(std::string_view text);

class ByteBpe {
 public:
  // Ids 0 to 255 are bytes, then the results of the merges, then bos and eos.
  explicit ByteBpe(const std::vector<Merge>& merges);
  // At most `size` tokens, learnt from words (byte_bpe_words) and their counts; size >= 258.
  static ByteBpe trained(const WordCounts& counts, int64_t size);
  // tokenizer.json as huggingface/tokenizers writes it for a BPE model with a ByteLevel pre-tokenizer, whose own ids
  // hold: all 256 bytes must be in its vocabulary, and an end of text (</s>, <|endoftext|> or <|end_of_text|>).
  // Throws Error(invalid) for a malformed one, Error(unsupported) for another kind of tokenizer.
  static ByteBpe read(const std::filesystem::path& path);

  std::vector<int32_t> encode(std::string_view text);      // keeps what it saw: not thread-safe
  std::string decode(std::span<const int32_t> ids) const;  // special tokens are left out
  int64_t size() const { return size_; }                   // ids lie below it
  int32_t bos() const { return bos_; }
  int32_t eos() const { return eos_; }

 private:
  ByteBpe(std::vector<int32_t> bytes, const std::vector<Merge>& merges);
  const std::vector<int32_t>& word_ids(std::string_view word);

  std::vector<int32_t> bytes_;  // id of each byte
  MergeTable merges_;
  std::unordered_map<int32_t, std::string> texts_;  // by id
  TextMap<std::vector<int32_t>> known_;
  int64_t size_ = 0;
  int32_t bos_ = 0, eos_ = 0;
};

}  // namespace tbd
