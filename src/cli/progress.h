// Progress on stderr: one rewritten line on a terminal, plain lines at each change elsewhere, nothing when quiet.
#pragma once
#include "cli/command.h"
#include "runner/run.h"

namespace tbd::cli {

class ProgressPrinter {
 public:
  ProgressPrinter(Context& context, bool quiet) : context_(context), quiet_(quiet) {}
  ~ProgressPrinter() { clear(); }
  void operator()(const Progress& progress);
  void clear();  // ends the rewritten line, so that other output starts on its own

 private:
  void rewrite(const std::string& line);
  Context& context_;
  bool quiet_;
  size_t shown_ = 0;        // width of the line on the terminal
  std::string last_stage_;  // of the plain form
};

}  // namespace tbd::cli
