// A stage may take long and say nothing (a first step, a gate): a thread rewrites the line meanwhile, with the seconds
// that the stage has taken.
#include "cli/progress.h"

#include <algorithm>
#include <csignal>
#include <ostream>

#include "base/text.h"
#include "measure/clock.h"

namespace tbd::cli {
namespace {

using std::chrono_literals::operator""s;

std::string subject(const Progress& p) {
  if (p.stage == "peaks") return "peaks of the machine";  // no launch's
  std::string text = cat("[", p.cell + 1, "/", p.cells, "] ", p.name);
  if (p.launches > 1) text += cat(" launch ", p.launch, "/", p.launches);
  return cat(text, ": ", p.stage);
}

std::string line_of(const Progress& p, double stage_seconds) {
  std::string line = subject(p);
  if (p.stage == "steps" && p.steps > 0) line += cat(" ", p.steps);
  if (p.stage != "steps" && stage_seconds >= 1) line += cat(" ", static_cast<int64_t>(stage_seconds), " s");
  if (!p.note.empty()) line += cat(" (", p.note, ")");
  if (p.remaining_seconds) line += cat(", at most ", format_seconds(*p.remaining_seconds), " left");
  return line;
}

double seconds_since(int64_t began_ns) { return 1e-9 * static_cast<double>(now_ns() - began_ns); }

// Signals are for the thread that waits for workers.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

void ProgressPrinter::operator()(const Progress& progress) {
  if (quiet_) return;
  const std::string stage = cat(progress.cell, "/", progress.launch, "/", progress.name, "/", progress.stage);
  const bool is_new = stage != last_stage_;
  last_stage_ = stage;
  if (!context_.err_is_terminal) {
    if (is_new) context_.err << line_of(progress, 0) << std::endl;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
    told_ns_ = now_ns();
    if (is_new) stage_began_ns_ = told_ns_;
    rewrite();
  }
  if (progress.stage == "done")
    clear();
  else if (!clock_.joinable())
    clock_ = std::jthread([this](const std::stop_token& stop) { rewrite_each_second(stop); });
}

void ProgressPrinter::rewrite_each_second(const std::stop_token& stop) {
  block_signals();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    stopped_.wait_for(lock, stop, 1s, [] { return false; });
    if (!stop.stop_requested() && seconds_since(told_ns_) >= 0.9) rewrite();
  }
}

void ProgressPrinter::rewrite() {
  Progress now = progress_;
  if (now.remaining_seconds) now.remaining_seconds = std::max(0.0, *now.remaining_seconds - seconds_since(told_ns_));
  line_.rewrite(line_of(now, seconds_since(stage_began_ns_)));
}

void ProgressPrinter::clear() {
  clock_ = {};  // waits for its end
  line_.end();
}

}  // namespace tbd::cli
