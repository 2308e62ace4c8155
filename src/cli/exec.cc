// tbd exec: measures any training program and prints its row.
#include "cli/exec.h"

#include <algorithm>
#include <ostream>

#include "base/amounts.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/workload_options.h"

namespace tbd::cli {
namespace {

class ExecCommand final : public Command {
 public:
  std::string name() const override { return "exec"; }
  std::string summary() const override { return "Measure any training program: tbd exec [OPTIONS] -- COMMAND"; }

  void declare(Options& options) override {
    options.positional("COMMAND", command_, "After --: the program that trains, with its arguments");
    options.option("--out", out_, "Folder of the result set [results/<time>-<program>-<hash>]");
    options.option("--effort", effort_,
                   "smoke, quick, publish: what --seconds, --steps and --launches are unless given",
                   {.show_default = true});
    program_.declare(options);
    options.option("--step-regex", regex_,
                   "Each line of the program's output that this POSIX extended regular expression finds ends a step "
                   "[hooks for PyTorch, Keras and MXNet; a byte on descriptor TBD_STEP_FD]");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    const auto command = words_behind_mark(context);
    if (!command) fail(ErrorKind::usage, "exec needs a command behind --, such as: tbd exec -- python train.py");
    ExecOptions options = program_.exec_options(*command, effort_);
    options.step_regex = regex_;
    options.repro = cat("tbd exec", option_words("--effort", effort_ == "quick" ? "" : effort_), program_.words(),
                        option_words("--step-regex", regex_), " -- ", shell_line(*command));
    const ProgramRun measured = measured_program(context, std::move(options), out_, output_.quiet);
    print_runs(context, {measured.run}, format);
    return measured.exit_code;
  }

 private:
  std::vector<std::string> command_;  // for the help alone
  std::string out_, effort_ = "quick", regex_;
  ProgramOptions program_;
  OutputOptions output_;
};

}  // namespace

void ProgramOptions::declare(Options& options) {
  options.option("--steps", steps_, "Steps wanted in each launch after warming up");
  options.option("--seconds", seconds_, "Time of steps wanted in each launch after warming up, such as 15 or 2m");
  options.option("--launches", launches_, "Launches, one after the other");
  options.option("--units", units_, "Units of throughput in a step, such as its images [1]");
  options.option("--unit", unit_, "Their name [steps, or units with --units]");
  options.option("--timeout", timeout_, "Longest wait for the first step or the next one", {.show_default = true});
}

bool ProgramOptions::any() const {
  return steps_ || seconds_ || launches_ || units_ || unit_ || timeout_ != ProgramOptions().timeout_;
}

// Where a person names how much, nothing else limits a launch.
ExecOptions ProgramOptions::exec_options(std::vector<std::string> command, const std::string& effort) const {
  ExecOptions options;
  options.command = std::move(command);
  options.effort = effort_of(effort);
  options.wants = level(options.effort);
  EffortLevel& wants = options.wants;
  if (launches_) wants.launches = positive(*launches_, "--launches");
  options.repeats = !steps_ && !seconds_;
  if (!options.repeats) {
    wants.steps = steps_ ? positive(*steps_, "--steps") : 2;
    wants.seconds = seconds_ ? seconds_from(*seconds_, "--seconds") : 0;
    wants.limit_seconds = 4 * wants.seconds;  // for a series that never settles
  }
  options.patience_seconds = seconds_from(timeout_, "--timeout");
  if (units_) options.units = number_from(*units_, "--units");
  if (!(options.units > 0)) fail(ErrorKind::usage, "--units must be above 0, got ", *units_);
  options.unit = unit_.value_or(units_ ? "units" : "steps");
  return options;
}

std::string ProgramOptions::words() const {
  return cat(option_words("--steps", steps_.value_or("")), option_words("--seconds", seconds_.value_or("")),
             option_words("--launches", launches_.value_or("")), option_words("--units", units_.value_or("")),
             option_words("--unit", unit_.value_or("")));
}

std::optional<std::vector<std::string>> words_behind_mark(const Context& context) {
  const auto mark = std::ranges::find(context.arguments, "--");
  if (mark == context.arguments.end() || mark + 1 == context.arguments.end()) return std::nullopt;
  return std::vector<std::string>(mark + 1, context.arguments.end());
}

std::vector<std::string> command_words(const std::string& command) {
  if (command.find_first_of("'\"\\$`|&;<>(){}*?[]~#\n") != std::string::npos) return {"/bin/sh", "-c", command};
  std::vector<std::string> words = split(command, ' ');
  std::erase(words, "");
  return words;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  return join(quoted, " ");
}

std::string option_words(std::string_view name, const std::string& value) {
  return value.empty() ? "" : cat(" ", name, " ", shell_word(value));
}

ProgramRun measured_program(Context& context, ExecOptions options, const std::string& out, bool quiet) {
  const RunnerSettings settings = runner_settings(context);
  note_interrupts();
  Workload named;
  named.model = program_name(options.command);
  const SetLock set = result_set(out, {named});
  options.out = set.set();
  ProgressPrinter progress(context, quiet);
  const std::vector<CellRun> runs =
      exec_commands(std::span(&options, 1), settings, [&](const Progress& p) { progress(p); });
  progress.clear();
  if (!quiet) context.err << "record: " << runs[0].record.string() << "\n";
  return {runs[0], code_of_runs(runs, settings)};
}

std::unique_ptr<Command> make_exec() { return std::make_unique<ExecCommand>(); }

}  // namespace tbd::cli
