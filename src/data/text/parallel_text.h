// Sentences and their translations as token ids.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "data/source.h"
#include "data/text/vocabulary.h"

namespace tbd {

struct Vocabularies {
  Vocabulary source, target;
};
// From the files beside the text where they stand, else the words (with merges: pieces) that are most frequent in the
// training text, as many as the network's rows leave room for; rows 0: no bound.
Vocabularies read_vocabularies(const SourceSpec& spec, LineNotes& notes);

// The pairs of a split, one a line of both files. Left out and noted: pairs with a side that is empty or only ".", and
// pairs that no bucket holds (source words <= source slots, target words + 1 <= target slots); with spec.text.bucket,
// pairs of other buckets are left out without a note. Throws Error(invalid) naming file and line where one file is
// longer, or what TextFile and read_vocabularies throw, or when no pair is left.
class ParallelText {
 public:
  explicit ParallelText(const SourceSpec& spec);

  size_t size() const { return pairs_.size(); }
  std::span<const int32_t> source(size_t pair) const;
  std::span<const int32_t> target(size_t pair) const;
  size_t bucket(size_t pair) const { return pairs_[pair].bucket; }
  size_t line(size_t pair) const { return pairs_[pair].line; }  // of both files, from 0
  const Vocabularies& vocabularies() const { return vocabularies_; }
  std::vector<BadFile> notes() const { return notes_.list(); }

 private:
  struct Pair {
    size_t begin;  // in tokens_: source, then target
    uint32_t source, target, line;
    uint16_t bucket;
  };
  void read(const SourceSpec& spec);

  LineNotes notes_;
  Vocabularies vocabularies_;
  std::vector<int32_t> tokens_;
  std::vector<Pair> pairs_;
};

}  // namespace tbd
