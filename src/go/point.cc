#include "go/point.h"

#include "base/error.h"

namespace tbd::go {
namespace {

constexpr std::string_view kColumns = "ABCDEFGHJKLMNOPQRST";

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

std::string_view name(Color color) {
  return color == Color::black ? "Black" : color == Color::white ? "White" : "nobody";
}

void require_size(int64_t size) {
  require(size >= kMinSize && size <= kMaxSize, "a board of ", size, "x", size, " is not one of ", kMinSize, "x",
          kMinSize, " to ", kMaxSize, "x", kMaxSize);
}

std::string gtp_text(Move move, int size) {
  if (move == size * size) return "pass";
  return kColumns[static_cast<size_t>(move % size)] + std::to_string(size - move / size);
}

std::optional<Move> move_from_gtp(std::string_view text, int size) {
  std::string word;
  for (const char c : text) word += upper(c);
  if (word == "PASS") return size * size;
  const std::optional<int64_t> row = word.empty() ? std::nullopt : parse_int(std::string_view(word).substr(1));
  const size_t column = word.empty() ? std::string_view::npos : kColumns.find(word[0]);
  if (!row || *row < 1 || *row > size || column >= static_cast<size_t>(size)) return std::nullopt;
  return (size - static_cast<int>(*row)) * size + static_cast<int>(column);
}

std::string sgf_text(Move move, int size) {
  if (move == size * size) return "";
  return {static_cast<char>('a' + move % size), static_cast<char>('a' + move / size)};
}

std::optional<Move> move_from_sgf(std::string_view text, int size) {
  if (text.empty() || text == "tt") return size * size;
  if (text.size() != 2) return std::nullopt;
  const int column = text[0] - 'a', row = text[1] - 'a';
  if (column < 0 || column >= size || row < 0 || row >= size) return std::nullopt;
  return row * size + column;
}

}  // namespace tbd::go
