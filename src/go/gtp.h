// A Go program as a child process that speaks the Go Text Protocol, version 2 (Farnebäck 2002).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/subprocess.h"
#include "go/game.h"

namespace tbd::go {

class GtpEngine {
 public:
  // Starts the program; each command is given `seconds`. Throws as Subprocess does.
  GtpEngine(const SpawnOptions& program, double seconds);
  ~GtpEngine();  // quit, and an end by force where it does not follow

  // The reply without its "=", lines joined by '\n'. Throws Error(invalid) naming command and reply where the program
  // refuses, Error(io) where it ends, gives no reply in time or does not speak GTP: it is of no use then.
  std::string command(std::string_view text);

  void set_up(int size, double komi);  // an empty board
  void play(Color player, Move move);
  // nullopt: it resigns. The program plays the move on its own board.
  std::optional<Move> generate(Color player);

 private:
  std::string reply(std::string_view text);

  Subprocess process_;
  double seconds_;
  int size_ = kMaxSize;
};

// GNU Go in GTP mode with area scoring, suicide forbidden and this ko rule; `program`: a name looked for in the usual
// folders, or a path. What else it is told: `options`.
SpawnOptions gnugo(const std::string& program, Ko ko, const std::vector<std::string>& options = {});

}  // namespace tbd::go
