#include "data/text/vocabulary.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {
namespace {

constexpr size_t kSpecialTokens = 4;

bool names_special(std::string_view word) {
  constexpr std::string_view kNames[] = {"<unk>", "<s>", "</s>", "<pad>", "<blank>", "<bos>", "<eos>"};
  return std::ranges::find(kNames, word) != std::end(kNames);
}

}  // namespace

void count_words(const TextFile& file, WordCounts& counts) {
  for (size_t line = 0; line < file.size(); ++line)
    for (const std::string_view word : words_of(file[line])) {
      const auto found = counts.find(word);
      if (found != counts.end())
        ++found->second;
      else
        counts.emplace(word, 1);
    }
}

std::vector<std::string> most_frequent(const WordCounts& counts, size_t limit) {
  std::vector<std::pair<int64_t, std::string_view>> ranked;
  for (const auto& [word, count] : counts) ranked.emplace_back(-count, word);
  const size_t kept = std::min(limit, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end());
  std::vector<std::string> words;
  for (size_t i = 0; i < kept; ++i) words.emplace_back(ranked[i].second);
  return words;
}

Vocabulary::Vocabulary(const SpecialIds& ids, const std::vector<std::string>& words) : ids_(ids) {
  const std::pair<int32_t, const char*> special[] = {
      {ids.bos, "<bos>"}, {ids.pad, "<pad>"}, {ids.eos, "<eos>"}, {ids.unk, "<unk>"}};
  for (const auto& [id, name] : special) {
    require(id >= 0 && id < 1024, "the id of ", name, " must be from 0 to 1023, got ", id);
    const auto place = static_cast<size_t>(id);
    if (words_.size() <= place) words_.resize(place + 1);
    require(words_[place].empty(), words_[place], " and ", name, " have the same id ", id);
    words_[place] = name;
  }
  size_t free = 0;
  for (const std::string& word : words) {
    while (free < words_.size() && !words_[free].empty()) ++free;
    if (free == words_.size()) words_.emplace_back();
    words_[free] = word;
    require(found_.emplace(word, static_cast<int32_t>(free)).second, "the word '", word, "' occurs twice");
  }
}

int32_t Vocabulary::id(std::string_view word) const {
  const auto found = found_.find(word);
  return found == found_.end() ? ids_.unk : found->second;
}

const std::string& Vocabulary::word(int32_t id) const {
  require(id >= 0 && id < size(), "token ", id, " lies outside the vocabulary of ", size());
  return words_[static_cast<size_t>(id)];
}

Vocabulary read_vocabulary(const std::filesystem::path& path, const SpecialIds& ids, int64_t rows, LineNotes& notes) {
  const TextFile file(path);
  const size_t room = rows <= int64_t{kSpecialTokens} ? 0 : static_cast<size_t>(rows) - kSpecialTokens;
  std::vector<std::string> words;
  TextMap<size_t> lines;
  for (size_t line = 0; line < file.size(); ++line) {
    const auto parts = words_of(file[line]);
    require(!parts.empty(), file.where(line), ": an empty line in a vocabulary");
    if (names_special(parts[0])) continue;
    const auto [first, added] = lines.emplace(parts[0], line);
    require(added, file.where(line), ": the word '", parts[0], "' is already in line ", first->second + 1);
    if (words.size() < room)
      words.emplace_back(parts[0]);
    else
      notes.add(file, line, cat("a word beyond the network's ", rows, " rows, read as unknown"));
  }
  require(!words.empty(), file.name(), " contains no words");
  return Vocabulary(ids, words);
}

}  // namespace tbd
