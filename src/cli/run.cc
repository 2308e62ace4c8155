// tbd run: measures cells and prints a row for each.
#include <algorithm>
#include <ostream>

#include "analysis/cell.h"
#include "analysis/input_verdict.h"
#include "cli/cell_options.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/verdicts.h"
#include "record/reader.h"

namespace tbd::cli {
namespace {

class Run final : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "Measure: one row for each model, framework, batch, precision, ..."; }

  void declare(CLI::App& app) override {
    cells_.declare(app);
    app.add_option("--plan", plan_, "File that names a set of workloads (docs/plans.md)");
    app.add_option("--like", like_, "Measure the workload of this record again");
    app.add_option("--effort", effort_,
                   "smoke: 5 steps; quick: 50 stable steps and 10 s; publish: 5 launches of 200 steps and 30 s [quick, "
                   "or the plan's]");
    app.add_option("--passes", passes_,
                   "What to measure of each cell, comma-separated: clean, trace (for profile), memory [clean]")
        ->delimiter(',');
    app.add_option("--launches", launches_, "Worker processes per cell [the effort's]");
    app.add_option("--limit", limit_, "Seconds for a launch after its first step [the effort's]");
    app.add_option("--out", out_, "Folder of the result set [results/<time>-<model>-<hash>]");
    app.add_flag("--no-check", no_check_, "Do not check first that several frameworks train the same network");
    app.add_flag("--no-peaks", no_peaks_, "Do not measure the machine's peaks");
    output_.declare(app);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    RunOptions options{.effort = Effort::quick};
    const std::vector<Cell> wanted = wanted_cells(options);
    if (launches_) options.launches = positive(*launches_, "--launches");
    if (limit_) options.limit_seconds = static_cast<double>(positive(*limit_, "--limit"));
    options.peaks = !no_peaks_;
    if (!passes_.empty()) options.passes = checked_passes();
    options.out = out_.empty() ? default_out("results", wanted, utc_label()) : std::filesystem::path(out_);

    note_interrupts();
    const RunnerSettings settings = runner_settings(context);
    if (!no_check_ && options.effort != Effort::smoke) check_rivals(context, wanted, settings, output_.quiet);
    ProgressPrinter progress(context, output_.quiet);
    const std::vector<CellRun> runs = run_cells(wanted, options, settings, [&](const Progress& p) { progress(p); });
    progress.clear();
    print_runs(context, runs, format);
    if (!output_.quiet) context.err << "records: " << options.out.string() << "\n";
    return exit_code(runs);
  }

 private:
  std::vector<Cell> wanted_cells(RunOptions& options) const {
    const int sources = cells_.any() + !plan_.empty() + !like_.empty();
    if (sources == 0) fail(ErrorKind::usage, "run needs a model, --plan FILE or --like RECORD");
    if (sources > 1) fail(ErrorKind::usage, "a model with its axes, --plan and --like exclude one another");
    if (effort_) options.effort = effort_of(*effort_);
    if (!plan_.empty()) {
      const Plan plan = read_plan(plan_);
      if (!effort_ && plan.effort) options.effort = *plan.effort;
      return cells(plan);
    }
    if (!like_.empty()) {
      const std::vector<std::filesystem::path> records = find_records(like_);
      if (records.size() != 1) fail(ErrorKind::usage, "--like takes one record, ", like_, " holds ", records.size());
      const Record record = read_record(records[0]);
      if (!effort_) options.effort = effort_of(record.run.workload.effort);
      return {cell_like(record.run.workload, record.run.workload.repro)};
    }
    if (cells_.models.empty()) fail(ErrorKind::usage, "run needs a model");
    return cells(cells_.axes());
  }

  std::vector<std::string> checked_passes() const {
    const std::vector<std::string> known = {"clean", "trace", "memory"};
    for (const std::string& pass : passes_)
      if (std::ranges::find(known, pass) == known.end()) fail(ErrorKind::usage, unknown_name("pass", pass, known));
    return passes_;
  }

  CellOptions cells_;
  std::vector<std::string> passes_;
  std::string plan_, like_, out_;
  std::optional<std::string> effort_, launches_, limit_;
  bool no_peaks_ = false, no_check_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace tbd::cli
