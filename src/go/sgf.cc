#include "go/sgf.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "go/sgf_tree.h"

namespace tbd::go {
namespace {

int read_size(const std::string& text) {
  const size_t colon = text.find(':');
  const auto columns = parse_int(trim(text.substr(0, colon)));
  const auto rows = colon == std::string::npos ? columns : parse_int(trim(text.substr(colon + 1)));
  require(columns && rows, "unreadable board size SZ[", text, "]");
  require(*columns == *rows, "a board of ", *columns, "x", *rows, " is not square");
  require_size(*columns);
  return static_cast<int>(*columns);
}

int64_t whole(const char* name, const std::string& text) {
  const auto value = trim(text).empty() ? std::optional<int64_t>(0) : parse_int(trim(text));
  require(value && *value >= 0 && *value <= kMaxPoints, "unreadable ", name, "[", text, "]");
  return *value;
}

void read_root_property(const SgfProperty& property, SgfGame& game) {
  const std::string& value = property.values[0];
  if (property.name == "GM") {
    require(trim(value) == "1", "not a game of Go: GM[", value, "]");
  } else if (property.name == "SZ") {
    game.size = read_size(value);
  } else if (property.name == "KM") {
    game.komi = parse_double(trim(value));
    require(game.komi || trim(value).empty(), "unreadable komi KM[", value, "]");
  } else if (property.name == "HA") {
    game.handicap = static_cast<int>(whole("HA", value));
  } else if (property.name == "RE") {
    game.result = trim(value);
  } else if (property.name != "B" && property.name != "W" && property.name != "AB" && property.name != "AW") {
    game.properties.emplace(property.name, value);
  }
}

int read_point(const std::string& property, const std::string& text, int size) {
  const std::optional<Move> move = move_from_sgf(text, size);
  require(move && *move < size * size, property, "[", text, "] is no point of a board of ", size, "x", size);
  return *move;
}

// "dd", or a rectangle "aa:cc".
void add_points(const SgfProperty& property, int size, std::vector<int>& points) {
  for (const std::string& value : property.values) {
    const size_t colon = value.find(':');
    const int from = read_point(property.name, value.substr(0, colon), size);
    const int to = colon == std::string::npos ? from : read_point(property.name, value.substr(colon + 1), size);
    require(from / size <= to / size && from % size <= to % size, property.name, "[", value, "] is no rectangle");
    for (int row = from / size; row <= to / size; ++row)
      for (int column = from % size; column <= to % size; ++column) points.push_back(row * size + column);
    require(points.size() <= static_cast<size_t>(size * size), property.name, " has more stones than the board points");
  }
}

void read_move(const SgfProperty& property, SgfGame& game) {
  const std::string& text = property.values[0];
  const std::optional<Move> move = move_from_sgf(trim(text), game.size);
  require(move.has_value(), property.name, "[", text, "] is no point of a board of ", game.size, "x", game.size);
  require(property.values.size() == 1, property.name, " has ", property.values.size(), " values");
  game.moves.push_back({property.name == "B" ? Color::black : Color::white, *move});
}

constexpr const char* kPolicy = "PI";

size_t policy_width(const SgfGame& game) { return static_cast<size_t>(game.size * game.size) + 1; }

void read_policy(const SgfProperty& property, SgfGame& game) {
  const size_t width = policy_width(game);
  game.policies.resize(game.policies.size() + width);
  const auto policy = std::span(game.policies).last(width);
  for (const std::string& value : property.values) {
    const size_t colon = value.find(':');
    const std::optional<Move> move = move_from_sgf(value.substr(0, colon), game.size);
    const auto share =
        colon == std::string::npos ? std::nullopt : parse_double(std::string_view(value).substr(colon + 1));
    require(move && share && *share >= 0 && *share <= 1, kPolicy, "[", value,
            "] is no point with a number from 0 to 1");
    policy[static_cast<size_t>(*move)] = static_cast<float>(*share);
  }
}

bool is_move(const SgfProperty& property) { return property.name == "B" || property.name == "W"; }

void read_node(const SgfNode& node, bool root, SgfGame& game) {
  if (root)
    for (const SgfProperty& property : node) read_root_property(property, game);
  for (const SgfProperty& property : node) {
    const bool set_up = property.name == "AB" || property.name == "AW" || property.name == "AE";
    require(!set_up || (root && property.name != "AE"), "stones are set up in the middle of the game (", property.name,
            ")");
    if (set_up) add_points(property, game.size, property.name == "AB" ? game.black : game.white);
  }
  const size_t before = game.moves.size(), first = game.first_searched();
  for (const SgfProperty& property : node)
    if (is_move(property)) read_move(property, game);
  for (const SgfProperty& property : node)
    if (property.name == kPolicy && !game.moves.empty()) read_policy(property, game);
  require(game.first_searched() == first || (first == before && game.policies.empty()), kPolicy,
          " is not known, once, of every move after the first that has it");
}

SgfGame game_of(const SgfLine& line, const std::string& file) {
  SgfGame game{.file = file};
  for (size_t i = 0; i < line.size(); ++i) try {
      read_node(line[i], i == 0, game);
    } catch (const Error& e) {
      const bool at_move = std::ranges::any_of(line[i], is_move);
      throw e.within(at_move ? cat("move ", game.moves.size() + 1) : "the set-up");
    }
  return game;
}

Board set_up(const SgfGame& record) {
  if (record.black.empty() && record.white.empty()) return Board(record.size);
  std::vector<Color> cells(static_cast<size_t>(record.size * record.size), Color::none);
  const auto put = [&](const std::vector<int>& points, Color color) {
    for (const int point : points) {
      Color& cell = cells[static_cast<size_t>(point)];
      require(cell == Color::none || cell == color, "both colours are set up at ", gtp_text(point, record.size));
      cell = color;
    }
  };
  put(record.black, Color::black);
  put(record.white, Color::white);
  return Board(record.size, cells);
}

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

// As many digits as give the number back.
std::string shortest(float number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

std::string policy_text(std::span<const float> policy, int size) {
  std::string text = kPolicy;
  for (size_t move = 0; move < policy.size(); ++move)
    if (policy[move] > 0) text += cat("[", sgf_text(static_cast<Move>(move), size), ":", shortest(policy[move]), "]");
  return text;
}

}  // namespace

size_t SgfGame::first_searched() const { return moves.size() - policies.size() / policy_width(*this); }

std::vector<SgfGame> read_sgf(std::string_view text, const std::string& file) try {
  std::vector<SgfGame> games;
  for (const SgfLine& line : read_sgf_lines(text)) games.push_back(game_of(line, file));
  return games;
} catch (const Error& e) {
  throw e.within(file);
}

Winner winner_of(std::string_view result) {
  std::string text;
  for (const char c : trim(result)) text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (text.empty() || text == "?") return Winner::unknown;
  if (text == "0" || text == "draw" || text == "jigo" || text == "void") return Winner::nobody;
  const bool won = (text[0] == 'b' || text[0] == 'w') && text.size() > 1 && text[1] == '+';
  constexpr std::string_view kHow[] = {"", "r", "resign", "t", "time", "f", "forfeit"};
  const std::string how = won ? text.substr(2) : "";
  const std::optional<double> points = parse_double(how);
  require(won && ((points && *points >= 0) || std::ranges::count(kHow, how)), "unreadable result RE[", result, "]");
  return text[0] == 'b' ? Winner::black : Winner::white;
}

Game start_of(const SgfGame& record, const Rules& rules) try {
  Board board = set_up(record);
  const bool white_first =
      record.moves.empty() ? !record.black.empty() && record.white.empty() : record.moves[0].player == Color::white;
  board.set_to_play(white_first ? Color::white : Color::black);
  return Game(board, rules);
} catch (const Error& e) {
  throw e.within(cat(record.file, ": the set-up"));
}

void play_move(const SgfGame& record, size_t index, Game& game) {
  const auto [player, move] = record.moves[index];
  const Legality why = game.legality(player, move);
  if (why == Legality::legal) {
    game.play(player, move);
    return;
  }
  fail(ErrorKind::invalid, record.file, ": move ", index + 1, ": ", name(player), " at ", gtp_text(move, record.size),
       " is illegal: ", reason(why));
}

Game replay(const SgfGame& record, const Rules& rules) {
  Game game = start_of(record, rules);
  for (size_t i = 0; i < record.moves.size(); ++i) play_move(record, i, game);
  return game;
}

std::string write_sgf(const SgfGame& game) {
  constexpr size_t kMovesPerLine = 12;
  const size_t width = policy_width(game), first = game.first_searched();
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
    if (i >= first) text += policy_text(std::span(game.policies).subspan((i - first) * width, width), game.size);
  }
  return text + ")\n";
}

}  // namespace tbd::go
