// Commands are rows of a table; each refuses by throwing the words that GTP 2 has for it. The game is the position that
// loadsgf or clear_board set and the moves since: undo and komi build it anew.
#include "go/gtp_server.h"

#include <algorithm>
#include <cmath>
#include <istream>
#include <ostream>

#include "base/error.h"
#include "base/files.h"
#include "go/search_choice.h"

namespace tbd::go {
namespace {

[[noreturn]] void refuse(const char* words) { fail(ErrorKind::invalid, words); }

int whole_number(const std::string& text) {
  const std::optional<int64_t> number = parse_int(text);
  if (!number || *number < 0 || *number > INT32_MAX) refuse("syntax error");
  return static_cast<int>(*number);
}

int half_points_of(double komi) {
  constexpr double kMost = 10'000;  // beyond any board: every such komi decides alike
  return static_cast<int>(std::lround(2 * std::clamp(komi, -kMost, kMost)));
}

Color player_of(const std::string& text) {
  const std::string word = lower_case(text);
  if (word != "b" && word != "black" && word != "w" && word != "white") refuse("syntax error");
  return word[0] == 'b' ? Color::black : Color::white;
}

std::vector<std::string> group_at(const Board& board, int start, Bits& seen) {
  std::vector<std::string> texts;
  std::vector<int> points = {start};
  flip(seen, start);
  for (size_t next = 0; next < points.size(); ++next) {
    texts.push_back(gtp_text(points[next], board.size()));
    for (const int beside : geometry(board.size()).neighbors[static_cast<size_t>(points[next])]) {
      if (board.at(beside) != board.at(start) || has(seen, beside)) continue;
      flip(seen, beside);
      points.push_back(beside);
    }
  }
  return texts;
}

std::string picture(const Board& board) {
  std::string columns = "  ";
  for (int column = 0; column < board.size(); ++column) columns += cat(" ", gtp_text(column, board.size())[0]);
  std::string text = "\n" + columns + "\n";
  for (int row = 0; row < board.size(); ++row) {
    const std::string number = std::to_string(board.size() - row);
    text += number.size() < 2 ? " " + number : number;
    for (int column = 0; column < board.size(); ++column) {
      const Color color = board.at(row * board.size() + column);
      text += color == Color::black ? " X" : color == Color::white ? " O" : " .";
    }
    text += " " + number + "\n";
  }
  return text + columns;
}

}  // namespace

struct GtpServer::Entry {
  const char* name;
  size_t fewest, most;  // arguments
  std::string (GtpServer::*run)(const Arguments&);
};

const std::vector<GtpServer::Entry>& GtpServer::entries() {
  static const std::vector<Entry> all = {{"boardsize", 1, 1, &GtpServer::boardsize},
                                         {"clear_board", 0, 0, &GtpServer::clear_board},
                                         {"final_score", 0, 0, &GtpServer::final_score},
                                         {"final_status_list", 1, 1, &GtpServer::final_status_list},
                                         {"genmove", 1, 1, &GtpServer::genmove},
                                         {"kgs-genmove_cleanup", 1, 1, &GtpServer::genmove_cleanup},
                                         {"known_command", 1, 1, &GtpServer::known_command},
                                         {"komi", 1, 1, &GtpServer::komi},
                                         {"list_commands", 0, 0, &GtpServer::list_commands},
                                         {"loadsgf", 1, 2, &GtpServer::loadsgf},
                                         {"name", 0, 0, &GtpServer::name},
                                         {"play", 2, 2, &GtpServer::play},
                                         {"protocol_version", 0, 0, &GtpServer::protocol_version},
                                         {"quit", 0, 0, &GtpServer::quit},
                                         {"readouts", 0, 1, &GtpServer::readouts},
                                         {"showboard", 0, 0, &GtpServer::showboard},
                                         {"time_left", 3, 3, &GtpServer::time_left},
                                         {"time_settings", 3, 3, &GtpServer::time_settings},
                                         {"undo", 0, 0, &GtpServer::undo},
                                         {"version", 0, 0, &GtpServer::version}};
  return all;
}

GtpServer::GtpServer(Evaluator& network, const GtpServerOptions& options)
    : network_(network),
      options_(options),
      rules_{.ko = options.ko, .komi_half_points = 15, .max_moves = 0},
      start_(options.size),
      game_(start_, rules_) {
  require(options.search.readouts >= 1 && options.search.leaves >= 1, "a search has at least one readout and leaf");
}

std::string GtpServer::answer(std::string_view line) {
  const std::optional<GtpCommand> command = read_gtp_command(line);
  if (!command) return "";
  const auto entry = std::ranges::find(entries(), command->name, &Entry::name);
  if (entry == entries().end()) return gtp_answer(*command, false, "unknown command");
  const size_t count = command->arguments.size();
  if (count < entry->fewest || count > entry->most) return gtp_answer(*command, false, "syntax error");
  try {
    return gtp_answer(*command, true, (this->*entry->run)(command->arguments));
  } catch (const Error& e) {
    return gtp_answer(*command, false, e.what());
  }
}

std::string GtpServer::protocol_version(const Arguments&) { return "2"; }
std::string GtpServer::name(const Arguments&) { return options_.name; }
std::string GtpServer::version(const Arguments&) { return options_.version; }

std::string GtpServer::known_command(const Arguments& arguments) {
  return std::ranges::count(entries(), arguments[0], &Entry::name) > 0 ? "true" : "false";
}

std::string GtpServer::list_commands(const Arguments&) {
  std::string names;
  for (const Entry& entry : entries()) names += cat(entry.name, "\n");
  return names;
}

std::string GtpServer::quit(const Arguments&) {
  ended_ = true;
  return "";
}

void GtpServer::restart(const Board& start) {
  start_ = start;
  moves_.clear();
  rebuild();
}

void GtpServer::rebuild() {
  search_.reset();
  game_ = Game(start_, rules_);
  for (const auto& [player, move] : moves_) game_.play(player, move);
}

std::string GtpServer::boardsize(const Arguments& arguments) {
  if (whole_number(arguments[0]) != options_.size) refuse("unacceptable size");
  return clear_board({});
}

std::string GtpServer::clear_board(const Arguments&) {
  restart(Board(options_.size));
  return "";
}

std::string GtpServer::komi(const Arguments& arguments) {
  const std::optional<double> points = parse_double(arguments[0]);
  if (!points) refuse("syntax error");
  rules_.komi_half_points = half_points_of(*points);
  const Color player = game_.to_play();
  rebuild();
  game_.set_to_play(player);
  return "";
}

void GtpServer::turn_to(Color player) {
  if (game_.to_play() == player) return;
  game_.set_to_play(player);
  search_.reset();
}

void GtpServer::play_move(Color player, Move move) {
  game_.play(player, move);
  moves_.push_back({player, move});
  if (game_.over())
    search_.reset();
  else if (search_)
    search_->play(move);
}

std::string GtpServer::play(const Arguments& arguments) {
  const Color player = player_of(arguments[0]);
  const std::optional<Move> move = move_from_gtp(arguments[1], options_.size);
  if (!move) refuse("syntax error");
  if (game_.legality(player, *move) != Legality::legal) refuse("illegal move");
  turn_to(player);
  play_move(player, *move);
  return "";
}

std::string GtpServer::generate(Color player) {
  turn_to(player);
  if (!search_) search_.emplace(game_, options_.search, options_.symmetry_key);
  try {
    search_->begin();
    finish_search(*search_, network_);
  } catch (...) {
    search_.reset();
    throw;
  }
  if (options_.resign_below && value_for_player(search_->tree()) < *options_.resign_below) return "resign";
  const Move move = most_visited(search_->tree());
  play_move(player, move);
  return gtp_text(move, options_.size);
}

std::string GtpServer::genmove(const Arguments& arguments) {
  const Color player = player_of(arguments[0]);
  return game_.over() ? "pass" : generate(player);
}

std::string GtpServer::genmove_cleanup(const Arguments& arguments) {
  const Color player = player_of(arguments[0]);
  if (game_.over()) game_.resume();
  return generate(player);
}

std::string GtpServer::undo(const Arguments&) {
  if (moves_.empty()) refuse("cannot undo");
  const Color player = moves_.back().player;
  moves_.pop_back();
  rebuild();
  game_.set_to_play(player);
  return "";
}

std::string GtpServer::showboard(const Arguments&) {
  return cat(picture(game_.board()), "\n", tbd::go::name(game_.to_play()), " to play");
}

std::string GtpServer::final_score(const Arguments&) {
  if (!game_.over()) refuse("cannot score");
  return result_text(game_.score());
}

std::string GtpServer::final_status_list(const Arguments& arguments) {
  if (arguments[0] == "dead" || arguments[0] == "seki") return "";
  if (arguments[0] != "alive") refuse("syntax error");
  std::string groups;
  Bits seen = {};
  for (int point = 0; point < game_.board().points(); ++point)
    if (game_.board().at(point) != Color::none && !has(seen, point))
      groups += join(group_at(game_.board(), point, seen), " ") + "\n";
  return groups;
}

std::string GtpServer::loadsgf(const Arguments& arguments) {
  const int number = arguments.size() == 2 ? whole_number(arguments[1]) : INT32_MAX;
  try {
    const std::vector<SgfGame> games = read_sgf(read_file(arguments[0]), arguments[0]);
    require(!games.empty() && games[0].size == options_.size, "no game on a board of ", options_.size);
    load(games[0], static_cast<size_t>(std::max(1, number) - 1));
  } catch (const Error&) {
    refuse("cannot load file");
  }
  return "";
}

void GtpServer::load(const SgfGame& record, size_t most_moves) {
  Rules rules = rules_;
  if (record.komi) rules.komi_half_points = half_points_of(*record.komi);
  Game game = start_of(record, rules);
  const Board start = game.board();
  const size_t count = std::min(most_moves, record.moves.size());
  for (size_t i = 0; i < count; ++i) tbd::go::play_move(record, i, game);
  rules_ = rules;
  restart(start);
  moves_.assign(record.moves.begin(), record.moves.begin() + static_cast<std::ptrdiff_t>(count));
  rebuild();
  if (count < record.moves.size()) game_.set_to_play(record.moves[count].player);
}

std::string GtpServer::time_settings(const Arguments& arguments) {
  for (const std::string& argument : arguments) whole_number(argument);
  return "";
}

std::string GtpServer::time_left(const Arguments& arguments) {
  player_of(arguments[0]);
  whole_number(arguments[1]);
  whole_number(arguments[2]);
  return "";
}

std::string GtpServer::readouts(const Arguments& arguments) {
  if (arguments.empty()) return std::to_string(options_.search.readouts);
  const int number = whole_number(arguments[0]);
  if (number < 1) refuse("syntax error");
  options_.search.readouts = number;
  search_.reset();
  return "";
}

void serve_gtp(GtpServer& server, std::istream& in, std::ostream& out) {
  for (std::string line; !server.ended() && std::getline(in, line);) out << server.answer(line) << std::flush;
}

}  // namespace tbd::go
