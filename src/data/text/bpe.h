// Byte-pair encoding of words with "@@" marks, as the WMT layouts hold it.
// Sennrich et al. 2016, arXiv:1508.07909; the merges files are those of subword-nmt, version 0.2.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/merges.h"

namespace tbd {

class Bpe {
 public:
  // One merge a line, two symbols between a space, "</w>" at the end of a word's last; a first line "#version: 0.2" may
  // stand. Throws Error(invalid) naming file and line.
  explicit Bpe(const TextFile& file);
  // Pieces of a word: all but the last end with "@@".
  std::vector<std::string> pieces(std::string_view word) const;

 private:
  static std::vector<Merge> read(const TextFile& file, Symbols& symbols);

  mutable Symbols symbols_;  // grows by characters that no merge has
  MergeTable merges_;
};

// The text of a merges file with at most `limit` merges, learnt from words and their counts.
std::string learn_bpe(const WordCounts& counts, size_t limit);

// A line of pieces as text: each that ends with "@@" joined to the one behind it, a last one to nothing.
std::string without_bpe_marks(std::string_view line);

}  // namespace tbd
