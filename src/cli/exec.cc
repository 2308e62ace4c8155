// tbd exec: measures any training program and prints its row.
#include "runner/exec/exec.h"

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
    options.option("--steps", steps_, "Steps wanted in each launch after warming up");
    options.option("--seconds", seconds_, "Time of steps wanted in each launch after warming up, such as 15 or 2m");
    options.option("--launches", launches_, "Launches, one after the other");
    options.option("--step-regex", regex_,
                   "Each line of the program's output that this POSIX extended regular expression finds ends a step "
                   "[hooks for PyTorch, Keras and MXNet; a byte on descriptor TBD_STEP_FD]");
    options.option("--units", units_, "Units of throughput in a step, such as its images [1]");
    options.option("--unit", unit_, "Their name [steps, or units with --units]");
    options.option("--timeout", timeout_, "Longest wait for the first step or the next one", {.show_default = true});
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    ExecOptions options = exec_options(context);
    const RunnerSettings settings = runner_settings(context);
    note_interrupts();
    Workload named;
    named.model = program_name(options.command);
    const SetLock set = result_set(out_, {named});
    options.out = set.set();
    ProgressPrinter progress(context, output_.quiet);
    const std::vector<CellRun> runs =
        exec_commands(std::span(&options, 1), settings, [&](const Progress& p) { progress(p); });
    progress.clear();
    print_runs(context, runs, format);
    if (!output_.quiet) context.err << "record: " << runs[0].record.string() << "\n";
    return code_of_runs(runs, settings);
  }

 private:
  ExecOptions exec_options(const Context& context) const {
    ExecOptions options;
    const auto mark = std::ranges::find(context.arguments, "--");
    if (mark == context.arguments.end() || mark + 1 == context.arguments.end())
      fail(ErrorKind::usage, "exec needs a command behind --, such as: tbd exec -- python train.py");
    options.command.assign(mark + 1, context.arguments.end());  // as they are, which the parser does not promise
    options.effort = effort_of(effort_);
    options.wants = wants(options.effort);
    options.repeats = !steps_ && !seconds_;
    options.patience_seconds = seconds_from(timeout_, "--timeout");
    options.step_regex = regex_;
    if (units_) options.units = number_from(*units_, "--units");
    if (!(options.units > 0)) fail(ErrorKind::usage, "--units must be above 0, got ", *units_);
    options.unit = unit_.value_or(units_ ? "units" : "steps");
    options.repro = repro(options.command);
    return options;
  }

  // Where a person names how much, nothing else limits a launch.
  EffortLevel wants(Effort effort) const {
    EffortLevel wants = level(effort);
    if (launches_) wants.launches = positive(*launches_, "--launches");
    if (!steps_ && !seconds_) return wants;
    wants.steps = steps_ ? positive(*steps_, "--steps") : 2;
    wants.seconds = seconds_ ? seconds_from(*seconds_, "--seconds") : 0;
    wants.limit_seconds = 4 * wants.seconds;  // for a series that never settles
    return wants;
  }

  std::string repro(const std::vector<std::string>& command) const {
    std::string line = "tbd exec";
    const auto add = [&](std::string_view name, const std::string& value) {
      if (!value.empty()) line += cat(" ", name, " ", shell_word(value));
    };
    add("--effort", effort_ == "quick" ? "" : effort_);
    add("--steps", steps_.value_or(""));
    add("--seconds", seconds_.value_or(""));
    add("--launches", launches_.value_or(""));
    add("--step-regex", regex_);
    add("--units", units_.value_or(""));
    add("--unit", unit_.value_or(""));
    line += " --";
    for (const std::string& word : command) line += cat(" ", shell_word(word));
    return line;
  }

  std::vector<std::string> command_;  // for the help alone
  std::string out_, effort_ = "quick", regex_, timeout_ = "15m";
  std::optional<std::string> steps_, seconds_, launches_, units_, unit_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_exec() { return std::make_unique<ExecCommand>(); }

}  // namespace tbd::cli
