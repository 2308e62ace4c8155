// A Go program for others to play with: a search that speaks the Go Text Protocol, version 2 (Farnebäck 2002).
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "go/gtp_line.h"
#include "go/search.h"
#include "go/sgf.h"

namespace tbd::go {

struct GtpServerOptions {
  std::string name = "tbd", version = "";
  int size = 9;  // the network's: the only one that boardsize accepts
  Ko ko = Ko::simple;
  SearchOptions search = {};
  std::optional<double> resign_below = {};    // genmove resigns a position worth less to its player; nullopt: never
  std::optional<uint64_t> symmetry_key = {};  // as Search takes it
};

// Commands: those that GTP 2 requires, and undo, showboard, final_score, final_status_list, loadsgf, time_settings,
// time_left, kgs-genmove_cleanup and readouts. docs/go.md says what each does. Games have no greatest length; every
// stone counts as alive; the tree is kept from move to move while play alternates.
class GtpServer {
 public:
  GtpServer(Evaluator& network, const GtpServerOptions& options);

  // The answer with the empty line that ends it; "" for a line without a command. What goes wrong, in the network too,
  // is an answer with '?'.
  std::string answer(std::string_view line);
  bool ended() const { return ended_; }  // by quit

  const Game& game() const { return game_; }

 private:
  struct Entry;
  using Arguments = std::vector<std::string>;
  static const std::vector<Entry>& entries();

  std::string protocol_version(const Arguments&);
  std::string name(const Arguments&);
  std::string version(const Arguments&);
  std::string known_command(const Arguments& arguments);
  std::string list_commands(const Arguments&);
  std::string quit(const Arguments&);
  std::string boardsize(const Arguments& arguments);
  std::string clear_board(const Arguments&);
  std::string komi(const Arguments& arguments);
  std::string play(const Arguments& arguments);
  std::string genmove(const Arguments& arguments);
  std::string genmove_cleanup(const Arguments& arguments);
  std::string undo(const Arguments&);
  std::string showboard(const Arguments&);
  std::string final_score(const Arguments&);
  std::string final_status_list(const Arguments& arguments);
  std::string loadsgf(const Arguments& arguments);
  std::string time_settings(const Arguments& arguments);
  std::string time_left(const Arguments& arguments);
  std::string readouts(const Arguments& arguments);

  void restart(const Board& start);
  void load(const SgfGame& record, size_t most_moves);
  void rebuild();
  void turn_to(Color player);
  void play_move(Color player, Move move);
  std::string generate(Color player);

  Evaluator& network_;
  GtpServerOptions options_;
  Rules rules_;
  Board start_;
  std::vector<SgfMove> moves_;  // since start_
  Game game_;
  std::optional<Search> search_;  // of game_; nullopt: none yet
  bool ended_ = false;
};

// Answers every line until quit, or the end of the input.
void serve_gtp(GtpServer& server, std::istream& in, std::ostream& out);

}  // namespace tbd::go
