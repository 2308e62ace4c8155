// Words and their ids.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/text_file.h"
#include "data/text/text_spec.h"

namespace tbd {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;
using WordCounts = TextMap<int64_t>;

void count_words(const TextFile& file, WordCounts& counts);
// By falling count, ties by byte order, at most `limit`.
std::vector<std::string> most_frequent(const WordCounts& counts, size_t limit);

// Special ids, and words in order on the ids that remain, ascending.
class Vocabulary {
 public:
  // Throws Error(invalid) for special ids that are negative or not four, and for a word that occurs twice.
  Vocabulary(const SpecialIds& ids, const std::vector<std::string>& words);

  int32_t id(std::string_view word) const;  // that of unk for a word it does not have
  // Throws Error(invalid) for an id outside it. Special ids are "<bos>", "<pad>", "<eos>", "<unk>".
  const std::string& word(int32_t id) const;
  int64_t size() const { return static_cast<int64_t>(words_.size()); }  // ids lie below it
  const SpecialIds& ids() const { return ids_; }

 private:
  SpecialIds ids_;
  std::vector<std::string> words_;  // by id
  TextMap<int32_t> found_;
};

// One word a line; what follows a tab or a space (a count) is ignored. Lines that name a special token (<unk>, <s>,
// </s>, <pad>, <blank>) take no row. Words beyond `rows` are noted, and read as unknown. Throws Error(invalid) naming
// file and line for a word that occurs twice or an empty line, and what TextFile throws.
Vocabulary read_vocabulary(const std::filesystem::path& path, const SpecialIds& ids, int64_t rows, LineNotes& notes);

}  // namespace tbd
