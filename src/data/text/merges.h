// Symbols that grow by merging pairs: what byte-pair encoding and our WordPiece trainer share.
// Sennrich et al. 2016, "Neural machine translation of rare words with subword units", arXiv:1508.07909, algorithm 1.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/vocabulary.h"

namespace tbd {

// Texts and their numbers, in the order in which they came.
class Symbols {
 public:
  int32_t add(std::string_view text);  // its number; a new one for a new text
  const std::string& text(int32_t symbol) const { return texts_[static_cast<size_t>(symbol)]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  TextMap<int32_t> numbers_;
};

struct Merge {
  int32_t left = 0, right = 0, result = 0;
  bool operator==(const Merge&) const = default;
};

// Merges by rank: the earlier come first.
class MergeTable {
 public:
  // Throws Error(invalid) for a pair that occurs twice.
  explicit MergeTable(std::span<const Merge> merges);
  // Merges all places of the pair of lowest rank, left to right, until no pair is left: n log n in the symbols.
  void apply(std::vector<int32_t>& symbols) const;

 private:
  struct Ranked {
    size_t rank;
    int32_t result;
  };
  std::unordered_map<uint64_t, Ranked> pairs_;
};

struct CountedWord {
  std::vector<int32_t> symbols;
  int64_t count = 0;
};
// Merges the pair that is most frequent over `words`, ties by the smaller numbers of left, then right, until `symbols`
// has `limit` of them or no pair occurs twice. `joined` is the text of a pair's result.
using JoinedText = std::function<std::string(const std::string& left, const std::string& right)>;
std::vector<Merge> learn_merges(const std::vector<CountedWord>& words, Symbols& symbols, size_t limit,
                                const JoinedText& joined);

}  // namespace tbd
