// WordPiece: words as the longest pieces of a vocabulary.
// Wu et al. 2016, arXiv:1609.08144, section 4.1; google-research/bert tokenization.py, WordpieceTokenizer.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/vocabulary.h"

namespace tbd {

struct Piece {
  int32_t id = 0;
  uint32_t begin = 0, end = 0;  // bytes of the text that it stands for
};

class WordPiece {
 public:
  // Pieces by id; those inside a word begin with "##". Throws Error(invalid) when [PAD], [UNK], [CLS], [SEP] or [MASK]
  // is missing, or a piece occurs twice; `name` stands in the message.
  WordPiece(std::vector<std::string> pieces, std::string_view name);

  // Uncased. A word of more than 100 characters, or with a part that no piece matches, is [UNK]. Thread-safe.
  std::vector<Piece> pieces(std::string_view text) const;
  void append_ids(std::string_view text, std::vector<int32_t>& ids) const;

  int64_t size() const { return static_cast<int64_t>(pieces_.size()); }
  const std::string& piece(int32_t id) const { return pieces_.at(static_cast<size_t>(id)); }
  int32_t pad() const { return pad_; }
  int32_t unk() const { return unk_; }
  int32_t cls() const { return cls_; }
  int32_t sep() const { return sep_; }
  int32_t mask() const { return mask_; }

 private:
  int32_t named(const char* piece, std::string_view name) const;

  std::vector<std::string> pieces_;
  TextMap<int32_t> ids_, inside_ids_;  // inside: without "##"
  int32_t pad_, unk_, cls_, sep_, mask_;
};

// vocab.txt: one piece a line, its id the number of the line from 0. Throws Error(invalid) naming file and line for a
// piece that occurs twice, an empty line, or a piece beyond the network's rows (0: no bound).
WordPiece read_wordpiece(const std::filesystem::path& path, int64_t rows);

// A vocabulary of at most `size` pieces: the five special ones, the characters of the counted words (basic tokens) by
// bytes, at most three quarters of the rest and then the most frequent, then what merging frequent pairs gives
// (learn_merges). The choice is ours; the published vocabulary's trainer is not public.
std::vector<std::string> train_wordpiece(const WordCounts& counts, int64_t size);
// The words of `text`, but those that are too long to be cut into pieces.
void count_basic_tokens(std::string_view text, WordCounts& counts);

}  // namespace tbd
