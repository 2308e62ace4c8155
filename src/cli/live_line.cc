#include "cli/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <ostream>

namespace tbd::cli {
namespace {

// nullopt where stderr is no terminal, or one that does not know.
std::optional<size_t> terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace

void LiveLine::rewrite(std::string line) {
  if (const auto width = terminal_width()) line.resize(std::min(line.size(), *width - 1));
  const size_t padding = shown_ > line.size() ? shown_ - line.size() : 0;
  out_ << '\r' << line << std::string(padding, ' ') << std::flush;
  shown_ = line.size();
}

void LiveLine::replace(const std::string& line) {
  if (shown_ > 0) out_ << '\r' << std::string(shown_, ' ') << '\r';
  out_ << line << std::endl;
  shown_ = 0;
}

void LiveLine::end() {
  if (shown_ > 0) out_ << std::endl;
  shown_ = 0;
}

}  // namespace tbd::cli
