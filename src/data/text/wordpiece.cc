#include "data/text/wordpiece.h"

#include <algorithm>

#include "base/error.h"
#include "data/text/basic_tokens.h"
#include "data/text/merges.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

constexpr size_t kLongestWord = 100;  // characters

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

size_t characters_of(std::string_view word) {
  size_t count = 0;
  for (const char byte : word) count += !is_continuation(byte);
  return count;
}

struct Match {
  int32_t id = -1;
  size_t end = 0;
};
// The longest piece of `known` that `word` has at `begin`; id -1 when there is none.
Match longest(const TextMap<int32_t>& known, std::string_view word, size_t begin) {
  for (size_t end = word.size(); end > begin; --end) {
    if (end < word.size() && is_continuation(word[end])) continue;
    const auto found = known.find(word.substr(begin, end - begin));
    if (found != known.end()) return {found->second, end};
  }
  return {};
}

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

WordPiece::WordPiece(std::vector<std::string> pieces, std::string_view name) : pieces_(std::move(pieces)) {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const std::string& piece = pieces_[i];
    const auto id = static_cast<int32_t>(i);
    require(ids_.emplace(piece, id).second, name, ": the piece '", piece, "' occurs twice");
    if (piece.size() > 2 && piece.starts_with("##")) inside_ids_.emplace(piece.substr(2), id);
  }
  pad_ = named("[PAD]", name);
  unk_ = named("[UNK]", name);
  cls_ = named("[CLS]", name);
  sep_ = named("[SEP]", name);
  mask_ = named("[MASK]", name);
}

int32_t WordPiece::named(const char* piece, std::string_view name) const {
  const auto found = ids_.find(std::string_view(piece));
  require(found != ids_.end(), name, ": the piece ", piece, " is missing");
  return found->second;
}

std::vector<Piece> WordPiece::pieces(std::string_view text) const {
  std::vector<Piece> out;
  for (const BasicToken& word : basic_tokens(text)) {
    const size_t first = out.size();
    bool matched = characters_of(word.text) <= kLongestWord;
    for (size_t begin = 0; matched && begin < word.text.size();) {
      const Match match = longest(begin == 0 ? ids_ : inside_ids_, word.text, begin);
      matched = match.id >= 0;
      if (matched) out.push_back({match.id, word.origins[begin].begin, word.origins[match.end - 1].end});
      begin = match.end;
    }
    if (matched) continue;
    out.resize(first);
    out.push_back({unk_, word.origins.front().begin, word.origins.back().end});
  }
  return out;
}

void WordPiece::append_ids(std::string_view text, std::vector<int32_t>& ids) const {
  for (const Piece& piece : pieces(text)) ids.push_back(piece.id);
}

WordPiece read_wordpiece(const std::filesystem::path& path, int64_t rows) {
  const TextFile file(path);
  std::vector<std::string> pieces;
  TextMap<size_t> seen;
  for (size_t line = 0; line < file.size(); ++line) {
    const std::string_view piece = trim(file[line]);
    require(!piece.empty(), file.where(line), ": an empty line in a vocabulary");
    const auto [first, added] = seen.emplace(piece, line);
    require(added, file.where(line), ": the piece '", piece, "' is already in line ", first->second + 1);
    require(rows == 0 || static_cast<int64_t>(line) < rows, file.where(line), ": token ", line, " ('", piece,
            "') lies outside the network's ", rows, " rows");
    pieces.emplace_back(piece);
  }
  return WordPiece(std::move(pieces), file.name());
}

void count_basic_tokens(std::string_view text, WordCounts& counts) {
  for (const BasicToken& token : basic_tokens(text))
    if (characters_of(token.text) <= kLongestWord) ++counts[token.text];
}

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
