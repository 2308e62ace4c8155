#include <algorithm>

#include "base/error.h"
#include "data/text/merges.h"
#include "data/text/utf8.h"
#include "data/text/wordpiece.h"

namespace tbd {
namespace {

constexpr const char* kSpecialPieces[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

// "ab" -> "a", "##b".
std::vector<std::string> first_pieces(std::string_view word) {
  std::vector<std::string> out;
  for (size_t i = 0; i < word.size();) {
    const auto point = code_point_at(word, i);
    const size_t length = point ? point->length : 1;
    out.push_back((i == 0 ? "" : "##") + std::string(word.substr(i, length)));
    i += length;
  }
  return out;
}

std::vector<std::string> alphabet_of(const WordCounts& counts, size_t limit) {
  WordCounts characters_seen;
  for (const auto& [word, count] : counts)
    for (const std::string& character : first_pieces(word)) characters_seen[character] += count;
  std::vector<std::string> alphabet = most_frequent(characters_seen, limit);
  std::ranges::sort(alphabet);
  return alphabet;
}

// Words whose characters are all among the symbols, in an order of their own.
std::vector<CountedWord> spell_words(const WordCounts& counts, Symbols& symbols) {
  const size_t alphabet = symbols.size();
  std::vector<CountedWord> words;
  for (const std::string& word : most_frequent(counts, counts.size())) {
    CountedWord counted{.count = counts.find(word)->second};
    for (const std::string& character : first_pieces(word)) counted.symbols.push_back(symbols.add(character));
    const bool known =
        std::ranges::all_of(counted.symbols, [&](int32_t s) { return static_cast<size_t>(s) < alphabet; });
    if (known) words.push_back(std::move(counted));
  }
  return words;
}

}  // namespace

std::vector<std::string> train_wordpiece(const WordCounts& counts, int64_t size) {
  constexpr size_t kSpecials = std::size(kSpecialPieces);
  require(size >= 16, "a WordPiece vocabulary needs room for 16 pieces, got ", size);
  const size_t room = static_cast<size_t>(size) - kSpecials;
  Symbols spelling, symbols;
  for (const std::string& character : alphabet_of(counts, room * 3 / 4)) {
    spelling.add(character);
    symbols.add(character);
  }
  const auto joined = [](const std::string& left, const std::string& right) { return left + right.substr(2); };
  learn_merges(spell_words(counts, spelling), symbols, room, joined);
  std::vector<std::string> pieces(std::begin(kSpecialPieces), std::end(kSpecialPieces));
  for (size_t i = 0; i < symbols.size(); ++i) pieces.push_back(symbols.text(static_cast<int32_t>(i)));
  return pieces;
}

}  // namespace tbd
