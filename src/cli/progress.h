// Progress on stderr: on a terminal one line, cut to its width and rewritten each second; plain lines at each change
// elsewhere; nothing when quiet.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/command.h"
#include "cli/live_line.h"
#include "runner/run.h"

namespace tbd::cli {

class ProgressPrinter {
 public:
  ProgressPrinter(Context& context, bool quiet) : context_(context), quiet_(quiet), line_(context.err) {}
  ~ProgressPrinter() { clear(); }
  void operator()(const Progress& progress);
  void clear();  // ends the rewritten line, so that other output starts on its own

 private:
  void rewrite();  // with mutex_ held
  void rewrite_each_second(const std::stop_token& stop);
  Context& context_;
  bool quiet_;
  std::string last_stage_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  Progress progress_;  // on the terminal
  int64_t told_ns_ = 0, stage_began_ns_ = 0;
  LiveLine line_;
  std::jthread clock_;  // last: it ends before what it reads
};

}  // namespace tbd::cli
