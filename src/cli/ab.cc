// tbd ab: two settings of one workload, or two programs of someone's own, launch by launch in turns.
#include <array>
#include <ostream>

#include "analysis/compare/comparison.h"
#include "analysis/compare/paired.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/compared_files.h"
#include "cli/data_fit.h"
#include "cli/exec.h"
#include "cli/locations.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/small_sets.h"
#include "cli/verdicts.h"
#include "cli/workload_options.h"
#include "record/reader.h"
#include "runner/device_choice.h"
#include "runner/exec/exec.h"
#include "runner/prepare.h"

namespace tbd::cli {
namespace {

// "mode=eager,threads=1" on top of `like`.
Workload side_of(const Workload& like, const std::string& text, std::string_view option) {
  Workload side = like;
  std::vector<std::string> known;
  for (const Axis& axis : axes()) known.emplace_back(axis.name);
  for (const std::string& part : split(text, ',')) {
    if (trim(part).empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string::npos)
      fail(ErrorKind::usage, option, " needs settings such as mode=eager, got '", part, "'");
    const std::string name(trim(std::string_view(part).substr(0, equals))),
        value(trim(std::string_view(part).substr(equals + 1)));
    require_known_name("setting", name, known);
    find_axis(name)->parse(side, value, cat(option, ": ", name));
  }
  return side;
}

class Ab final : public Command {
 public:
  std::string name() const override { return "ab"; }
  std::string summary() const override {
    return "Measure two settings of a workload in turns, launch by launch, and say which is faster";
  }

  void declare(Options& options) override {
    cells_.declare(options);
    options.option("--a", a_, "Settings of A, such as mode=eager,threads=1 [those of the workload]");
    options.option("--b", b_, "Settings of B; as those of A: what the same setting gives twice");
    options.option("--exec", commands_,
                   "Twice, in place of a model: the commands of two training programs (docs/exec.md)",
                   {.one_argument = true});
    options.option("--step-regex", regex_, "With --exec: a line of output that ends a step, as tbd exec takes it");
    options.option("--pairs", pairs_, "Launches of each side", {.show_default = true});
    options.option("--seconds", seconds_, "Of steps in each launch, at most", {.show_default = true});
    options.option("--order", order_, "Seed of the order in which the sides take turns", {.show_default = true});
    options.option("--margin", margin_, "Differences below it do not matter", {.show_default = true});
    options.option("--difference", difference_, "Say how many pairs would find one of this size",
                   {.show_default = true});
    options.option("--fail-on", fail_on_, "End with code 1 at one of: slower, faster, undecided", {.separator = ','});
    options.option("--out", out_, "Folder of the result set [results/<time>-<model>-<hash>]");
    options.flag("--every-pair", every_pair_, "Print every pair, too");
    places_.declare(options);
    places_.declare_sharing(options);
    output_.declare(options);
  }

  int run(Context& context) override {
    return at_places(context, places_, [&](const RunnerSettings& settings) { return run_with(context, settings); });
  }

 private:
  int run_with(Context& context, const RunnerSettings& settings) {
    const Format format = output_.table_format();
    const double margin = fraction_from(margin_, "--margin"), change = fraction_from(difference_, "--difference");
    if (change <= margin)
      fail(ErrorKind::usage, "--difference needs more than the margin of ", margin_, ", got ", difference_);
    for (const std::string& each : fail_on_) require_known_name("outcome", each, {"slower", "faster", "undecided"});
    if (!commands_.empty()) return run_programs(context, settings, margin, change, format);
    if (!regex_.empty()) fail(ErrorKind::usage, "--step-regex is of --exec");
    std::vector<Workload> sides = both_sides(context, settings);
    take_places(sides, settings);
    for (const Workload& side : sides) require_startable(side, settings);
    RunOptions options = in_turns(positive(pairs_, "--pairs"), seconds_of_launch(seconds_), seed_from(order_), out_);
    note_interrupts();
    const SetLock set = result_set(options.out, sides);
    options.out = set.set();
    ProgressPrinter progress(context, output_.quiet);
    const std::vector<CellRun> runs = run_cells(sides, options, settings, [&](const Progress& p) { progress(p); });
    progress.clear();
    if (!output_.quiet) context.err << "records: " << options.out.string() << "\n";
    if (runs.size() < sides.size()) return kCellFailed;  // interrupted before both began
    return judge(context, runs, {a_.empty() ? "as it is" : a_, b_.empty() ? "as it is" : b_}, {margin, change}, format,
                 settings);
  }

  std::vector<Workload> both_sides(Context& context, const RunnerSettings& settings) const {
    std::vector<Workload> base = tbd::cells(with_launched_workers(cells_.set(), settings));
    if (base.size() != 1) fail(ErrorKind::usage, "ab takes one workload, got ", base.size());
    std::vector<Workload> sides = {side_of(base[0], a_, "--a"), side_of(base[0], b_, "--b")};
    for (Workload& side : sides) side = with_devices({side}, settings).front();  // of two alike together it keeps one
    if (sides[0] == sides[1]) ++sides[1].seed;  // one record each; what is timed does not depend on it
    find_data(context, sides);
    require_classes_fit(sides);
    return sides;
  }

  struct Sizes {
    double margin, change;
  };

  int run_programs(Context& context, const RunnerSettings& settings, double margin, double change,
                   Format format) const {
    if (commands_.size() != 2) fail(ErrorKind::usage, "ab takes --exec twice, got it ", commands_.size(), " times");
    if (cells_.any() || !a_.empty() || !b_.empty())
      fail(ErrorKind::usage, "ab takes either a model with --a and --b, or --exec twice");
    std::vector<ExecOptions> programs;
    for (const std::string& command : commands_) {
      ExecOptions& program = programs.emplace_back();
      program.command = command_words(command);
      if (program.command.empty()) fail(ErrorKind::usage, "--exec needs a command");
      program.wants = {.steps = 2,
                       .seconds = seconds_of_launch(seconds_),
                       .launches = positive(pairs_, "--pairs"),
                       .limit_seconds = 4 * seconds_of_launch(seconds_)};
      program.repeats = false;
      program.step_regex = regex_;
      program.repro = cat("tbd exec -- ", command);
    }
    note_interrupts();
    Workload named;
    named.model = program_name(programs[0].command);
    const SetLock set = result_set(out_, {named});
    for (ExecOptions& program : programs) program.out = set.set();
    ProgressPrinter progress(context, output_.quiet);
    const std::vector<CellRun> runs = exec_commands(
        programs, settings, [&](const Progress& p) { progress(p); }, seed_from(order_));
    progress.clear();
    if (!output_.quiet) context.err << "records: " << set.set().string() << "\n";
    return judge(context, runs, {commands_[0], commands_[1]}, {margin, change}, format, settings);
  }

  int judge(Context& context, const std::vector<CellRun>& runs, const std::array<std::string, 2>& names,
            const Sizes& sizes, Format format, const RunnerSettings& settings) const {
    for (const CellRun& run : runs)
      if (run.outcome.kind != OutcomeKind::ok)
        context.err << run.record.filename().string() << ": " << tbd::name(run.outcome.kind) << ": "
                    << run.outcome.reason << "\n";
    const PairedComparison comparison =
        paired_comparison(read_record(runs[0].record), read_record(runs[1].record), sizes.margin, sizes.change);
    const auto& [a, b] = names;
    print_sentences(context, {paired_sentence(comparison, a, b)}, format);
    std::vector<Table> tables = {paired_table(comparison, a, b)};
    if (every_pair_) tables.push_back(pairs_table(comparison));
    if (comparison.result) print_tables(context, tables, format);
    const int code = code_of_runs(runs, settings);
    if (code != kDone || !comparison.result) return kCellFailed;
    for (const std::string& each : fail_on_)
      if (each == tbd::name(comparison.result->verdict)) return kVerdictFailed;
    return kDone;
  }

  WorkloadOptions cells_;
  std::string a_, b_, pairs_ = "20", seconds_ = "5", order_ = "1", margin_ = "2%", difference_ = "5%", out_;
  std::string regex_;
  std::vector<std::string> fail_on_, commands_;
  bool every_pair_ = false;
  WorkerPlaces places_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_ab() { return std::make_unique<Ab>(); }

}  // namespace tbd::cli
