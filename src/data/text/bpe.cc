#include "data/text/bpe.h"

#include <algorithm>

#include "base/error.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

constexpr std::string_view kEnd = "</w>";

std::vector<std::string> word_characters(std::string_view word) {
  std::vector<std::string> out;
  for (size_t i = 0; i < word.size();) {
    const auto point = code_point_at(word, i);
    const size_t length = point ? point->length : 1;
    out.emplace_back(word.substr(i, length));
    i += length;
  }
  if (!out.empty()) out.back() += kEnd;
  return out;
}

std::vector<int32_t> symbols_of(std::string_view word, Symbols& symbols) {
  std::vector<int32_t> out;
  for (const std::string& text : word_characters(word)) out.push_back(symbols.add(text));
  return out;
}

}  // namespace

Bpe::Bpe(const TextFile& file) : merges_(read(file, symbols_)) {}

std::vector<Merge> Bpe::read(const TextFile& file, Symbols& symbols) {
  std::vector<Merge> merges;
  TextMap<size_t> seen;
  for (size_t line = 0; line < file.size(); ++line) {
    if (line == 0 && file[0].starts_with("#version:")) {
      require(trim(file[0].substr(9)) == "0.2", file.where(0), ": merges of version '", trim(file[0].substr(9)),
              "', only version 0.2 is supported");
      continue;
    }
    const auto parts = words_of(file[line]);
    require(parts.size() == 2, file.where(line), ": a merge consists of two symbols, found ", parts.size());
    require(seen.emplace(cat(parts[0], " ", parts[1]), line).second, file.where(line), ": the merge '", parts[0], " ",
            parts[1], "' occurs twice");
    merges.push_back({symbols.add(parts[0]), symbols.add(parts[1]), symbols.add(cat(parts[0], parts[1]))});
  }
  return merges;
}

std::vector<std::string> Bpe::pieces(std::string_view word) const {
  std::vector<int32_t> symbols = symbols_of(word, symbols_);
  merges_.apply(symbols);
  std::vector<std::string> out;
  for (const int32_t symbol : symbols) out.push_back(symbols_.text(symbol) + "@@");
  if (!out.empty()) out.back().resize(out.back().size() - kEnd.size() - 2);
  return out;
}

std::string without_bpe_marks(std::string_view line) {
  constexpr std::string_view kMark = "@@";
  std::string text;
  bool joins = true;
  for (std::string_view piece : words_of(line)) {
    if (!joins) text += ' ';
    joins = piece.ends_with(kMark);
    if (joins) piece.remove_suffix(kMark.size());
    text += piece;
  }
  return text;
}

std::string learn_bpe(const WordCounts& counts, size_t limit) {
  Symbols symbols;
  std::vector<CountedWord> words;
  for (const std::string& word : most_frequent(counts, counts.size()))  // an order of its own, whatever the map's
    words.push_back({symbols_of(word, symbols), counts.find(word)->second});
  std::string text = "#version: 0.2\n";
  const auto joined = [](const std::string& left, const std::string& right) { return left + right; };
  for (const Merge& merge : learn_merges(words, symbols, symbols.size() + limit, joined))
    text += cat(symbols.text(merge.left), " ", symbols.text(merge.right), "\n");
  return text;
}

}  // namespace tbd
