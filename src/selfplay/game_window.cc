#include "selfplay/game_window.h"

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

void move_if_there(const fs::path& from, const fs::path& to) {
  if (!is_file(from)) return;
  std::error_code code;
  fs::rename(from, to, code);
  if (code) fail(ErrorKind::io, "cannot move ", from.string(), " to ", to.string(), ": ", code.message());
}

void remove_file(const fs::path& file) {
  std::error_code code;
  fs::remove(file, code);
  if (code) fail(ErrorKind::io, "cannot remove ", file.string(), ": ", code.message());
}

}  // namespace

std::string generation_name(int64_t generation) {
  const std::string digits = std::to_string(generation);
  return "generation-" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

GameWindow::GameWindow(const fs::path& record, int64_t window)
    : folder_(fs::absolute(record) / "games"), window_(window) {
  require(window >= 1, "a window has one generation or more, got ", window);
  make_folder(folder_ / "train");
  make_folder(folder_ / "past");
}

fs::path GameWindow::file(const char* part, int64_t generation) const {
  return folder_ / part / (generation_name(generation) + ".sgf");
}

void GameWindow::add(int64_t last, const std::string& sgf) const {
  write_file_atomic(file("train", last), sgf);
  arrange(last);
}

void GameWindow::arrange(int64_t last) const {
  for (int64_t generation = 1; generation <= last; ++generation) {
    const bool learnt = generation > last - window_;
    move_if_there(file(learnt ? "past" : "train", generation), file(learnt ? "train" : "past", generation));
  }
  for (int64_t generation = last + 1; is_file(file("train", generation)); ++generation)
    remove_file(file("train", generation));
}

}  // namespace tbd
