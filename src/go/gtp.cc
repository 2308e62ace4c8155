#include "go/gtp.h"

#include <chrono>

#include "base/error.h"

namespace tbd::go {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kLongestReply = 1 << 20;  // bytes

const char* letter(Color player) { return player == Color::black ? "black" : "white"; }

}  // namespace

GtpEngine::GtpEngine(const SpawnOptions& program, double seconds) : process_(program), seconds_(seconds) {}

GtpEngine::~GtpEngine() {
  try {
    process_.write_line("quit", 1);
    process_.close_input();
    if (!process_.wait(2)) process_.terminate(0.5);
  } catch (const Error&) {  // it no longer reads; Subprocess reaps it
  }
}

std::string GtpEngine::command(std::string_view text) {
  require(text.find('\n') == std::string_view::npos, "a GTP command is one line");
  process_.write_line(text, seconds_);
  const std::string answer = reply(text);
  require(answer[0] == '=', "the Go program refuses '", text, "': ", trim(answer.substr(1)));
  return std::string(trim(std::string_view(answer).substr(1)));
}

// Lines up to the empty one that ends a reply.
std::string GtpEngine::reply(std::string_view text) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds_);
  std::string answer, line;
  while (true) {
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    const Subprocess::Read read = left > 0 ? process_.read_line(line, left) : Subprocess::Read::timeout;
    if (read == Subprocess::Read::timeout)
      fail(ErrorKind::io, "the Go program gives no reply to '", text, "' in ", seconds_, " s");
    if (read == Subprocess::Read::end) fail(ErrorKind::io, "the Go program ends instead of a reply to '", text, "'");
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() && !answer.empty()) return answer;
    if (line.empty()) continue;
    if (answer.empty() && line[0] != '=' && line[0] != '?')
      fail(ErrorKind::io, "the Go program speaks no GTP: '", line, "'");
    answer += (answer.empty() ? "" : "\n") + line;
    if (answer.size() > kLongestReply) fail(ErrorKind::io, "the Go program's reply to '", text, "' has no end");
  }
}

void GtpEngine::set_up(int size, double komi) {
  size_ = size;
  command(cat("boardsize ", size));
  command("clear_board");
  command(cat("komi ", komi));
}

void GtpEngine::play(Color player, Move move) { command(cat("play ", letter(player), " ", gtp_text(move, size_))); }

std::optional<Move> GtpEngine::generate(Color player) {
  const std::string answer = command(cat("genmove ", letter(player)));
  if (answer == "resign" || answer == "RESIGN") return std::nullopt;
  const std::optional<Move> move = move_from_gtp(answer, size_);
  if (!move) fail(ErrorKind::io, "the Go program's move '", answer, "' is none of a board of ", size_, "x", size_);
  return move;
}

SpawnOptions gnugo(const std::string& program, Ko ko, const std::vector<std::string>& options) {
  SpawnOptions spawn{.argv = {program, "--mode", "gtp", "--chinese-rules", "--forbid-suicide"},
                     .environment = {{"PATH", TBD_TOOLS ":/usr/games:/usr/local/bin:/usr/bin:/bin"}},
                     .stderr_file = "/dev/null"};
  spawn.argv.push_back(ko == Ko::simple ? "--simple-ko" : "--positional-superko");
  spawn.argv.insert(spawn.argv.end(), options.begin(), options.end());
  return spawn;
}

}  // namespace tbd::go
