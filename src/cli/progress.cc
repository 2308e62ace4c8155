#include "cli/progress.h"

#include <ostream>

namespace tbd::cli {
namespace {

std::string line_of(const Progress& p) {
  std::string line = cat("[", p.cell + 1, "/", p.cells, "] ", p.name);
  if (p.launches > 1) line += cat(" launch ", p.launch, "/", p.launches);
  line += cat(": ", p.stage);
  if (p.stage == "steps" && p.steps > 0) line += cat(" ", p.steps);
  if (!p.note.empty()) line += cat(" (", p.note, ")");
  if (p.remaining_seconds) line += cat(", at most ", format_seconds(*p.remaining_seconds), " left");
  return line;
}

}  // namespace

void ProgressPrinter::operator()(const Progress& progress) {
  if (quiet_) return;
  const std::string line = line_of(progress);
  if (context_.err_is_terminal) {
    rewrite(line);
    if (progress.stage == "done") clear();
    return;
  }
  const std::string stage = cat(progress.cell, "/", progress.launch, "/", progress.stage);
  if (stage == last_stage_) return;
  last_stage_ = stage;
  context_.err << line << std::endl;
}

void ProgressPrinter::rewrite(const std::string& line) {
  const size_t padding = shown_ > line.size() ? shown_ - line.size() : 0;
  context_.err << '\r' << line << std::string(padding, ' ') << std::flush;
  shown_ = line.size();
}

void ProgressPrinter::clear() {
  if (shown_ > 0) context_.err << std::endl;
  shown_ = 0;
}

}  // namespace tbd::cli
