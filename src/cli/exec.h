// What the commands share that measure a program of someone's own: tbd exec, tbd profile --exec.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "runner/exec/exec.h"

namespace tbd::cli {

class ProgramOptions {
 public:
  void declare(Options& options);  // --steps, --seconds, --launches, --units, --unit, --timeout
  bool any() const;                // was anything given?
  bool names_launches() const { return launches_.has_value(); }
  // Without `out` and `repro`. Throws Error(usage).
  ExecOptions exec_options(std::vector<std::string> command, const std::string& effort) const;
  std::string words() const;  // " --steps 20 --unit images": what was given

 private:
  std::string timeout_ = "15m";
  std::optional<std::string> steps_, seconds_, launches_, units_, unit_;
};

// The words behind `--`, as they are, which the parser does not promise; nullopt without a `--` or behind it nothing.
std::optional<std::vector<std::string>> words_behind_mark(const Context& context);
// A command in one text: a line of a shell where it needs one, else its words.
std::vector<std::string> command_words(const std::string& command);
std::string shell_line(const std::vector<std::string>& words);  // as a shell reads these words
// " --out 'a b'", or nothing where the value is empty.
std::string option_words(std::string_view name, const std::string& value);

struct ProgramRun {
  CellRun run;
  int exit_code = kDone;
};
// Measures the program into the set `out`, or a new one, with progress and the record's place on stderr.
ProgramRun measured_program(Context& context, ExecOptions options, const std::string& out, bool quiet);

}  // namespace tbd::cli
