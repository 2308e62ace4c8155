#include "base/text.h"
#include "go/sgf.h"

namespace tbd::go {
namespace {

std::string property(const std::string& name, std::string_view value) {
  std::string text = name + "[";
  for (const char c : value) {
    if (c == ']' || c == '\\') text += '\\';
    text += c;
  }
  return text + "]";
}

std::string points(const std::string& name, std::span<const int> of, int size) {
  std::string text = of.empty() ? "" : name;
  for (const int point : of) text += "[" + sgf_text(point, size) + "]";
  return text;
}

}  // namespace

std::string write_sgf(const SgfGame& game) {
  constexpr size_t kMovesPerLine = 12;
  std::string text = cat("(;FF[4]GM[1]SZ[", game.size, "]");
  if (game.komi) text += cat("KM[", *game.komi, "]");
  if (game.handicap > 0) text += cat("HA[", game.handicap, "]");
  if (!game.result.empty()) text += property("RE", game.result);
  for (const auto& [name, value] : game.properties)
    if (name != "FF") text += property(name, value);
  text += points("AB", game.black, game.size) + points("AW", game.white, game.size);
  for (size_t i = 0; i < game.moves.size(); ++i) {
    if (i % kMovesPerLine == 0) text += "\n";
    const SgfMove& move = game.moves[i];
    text += cat(";", move.player == Color::black ? "B" : "W", "[", sgf_text(move.move, game.size), "]");
  }
  return text + ")\n";
}

}  // namespace tbd::go
