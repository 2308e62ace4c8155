// tbd run: measures cells and prints a row for each.
#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/data_fit.h"
#include "cli/locations.h"
#include "cli/pass_options.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/run_forecast.h"
#include "cli/run_request.h"
#include "cli/small_sets.h"
#include "cli/undecided.h"
#include "cli/verdicts.h"
#include "runner/prepare.h"

namespace tbd::cli {
namespace {

class RunCommand final : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override {
    return "Measure workloads: one row for each model, framework, batch, precision, ...";
  }

  void declare(Options& options) override {
    arguments_.declare(options);
    output_.declare(options);
  }

  int run(Context& context) override {
    return at_places(context, arguments_.places,
                     [&](const RunnerSettings& settings) { return run_with(context, settings); });
  }

 private:
  int run_with(Context& context, const RunnerSettings& settings) {
    const Format format = output_.table_format();
    if (!arguments_.plan.empty()) arguments_.plan = plan_file(context, arguments_.plan).string();
    RunRequest request = run_request(arguments_, settings);
    if (request.cells.empty()) {
      context.err << "tbd: there is no workload to measure: " << why_empty() << "\n";
      return arguments_.shard.empty() ? kBadUsage : kDone;
    }
    take_places(request.cells, settings);
    find_data(context, request.cells);
    require_classes_fit(request.cells);
    if (request.options.budget_seconds && !request.options.resume && !arguments_.limit) {
      const LaunchesOfWorkload of = launches_within_budget(request.cells, request.options, hardware(settings));
      request.options.launches = of.launches;
      request.options.limit_seconds = of.limit_seconds;
    }
    if (arguments_.dry_run) {
      for (const Workload& cell : request.cells) require_startable(cell, settings);
      return print_forecast(context, request, settings, format);
    }
    std::vector<LeftOutCell> left_out;
    if (request.options.budget_seconds && !request.options.resume) left_out = thin(context, request, settings);
    return measure(context, request, settings, left_out, format);
  }

  std::string why_empty() const {
    return arguments_.shard.empty() ? "the plan excludes all workloads" : cat("shard ", arguments_.shard, " is empty");
  }

  // Earlier records of this machine tell its rates.
  Hardware hardware(const RunnerSettings& settings) const {
    std::vector<std::filesystem::path> earlier = {"results"};
    if (!arguments_.resume.empty()) earlier.insert(earlier.begin(), arguments_.resume);
    Hardware out = known_hardware(earlier, settings);
    if (!arguments_.on.empty()) out.gpu = read_gpu_description(arguments_.on);
    return out;
  }

  int print_forecast(Context& context, const RunRequest& request, const RunnerSettings& settings, Format format) const {
    const Forecast seen = forecast(request.cells, request.options, hardware(settings));
    print_tables(context, {forecast_cells(seen), forecast_observations(seen), forecast_total(seen, request.options)},
                 format);
    return kDone;
  }

  std::vector<LeftOutCell> thin(Context& context, RunRequest& request, const RunnerSettings& settings) const {
    const Forecast seen = forecast(request.cells, request.options, hardware(settings));
    request.cells = seen.kept_cells(request.cells);
    std::vector<LeftOutCell> left_out = seen.left_out(request.options.effort);
    if (!left_out.empty() && !output_.quiet)
      context.err << "budget of " << format_seconds(*request.options.budget_seconds) << ": " << request.cells.size()
                  << " of " << seen.cells.size() << " workloads, "
                  << request.options.launches.value_or(level(request.options.effort).launches)
                  << " launches of at most " << format_seconds(*request.options.limit_seconds)
                  << " of steps, predicted to take " << format_seconds(seen.seconds)
                  << "; left-out.json lists the others\n";
    return left_out;
  }

  int measure(Context& context, RunRequest& request, const RunnerSettings& settings,
              const std::vector<LeftOutCell>& left_out, Format format) const {
    RunOptions& options = request.options;
    note_interrupts();
    const SetLock set = result_set(options.out, request.cells);
    options.out = set.set();
    if (request.check && options.effort != Effort::smoke) check_rivals(context, request.cells, settings, output_.quiet);
    std::optional<PlanFiles> files;
    if (!options.resume) files.emplace(request, left_out);
    ProgressPrinter progress(context, output_.quiet);
    options.undecided = [&] {
      progress.clear();
      return undecided_records(context, options.out, output_.quiet);
    };
    const std::vector<CellRun> runs = run_cells(request.cells, options, settings, [&](const Progress& p) {
      if (files) files->keep();  // something is measured: no refusal any more
      progress(p);
    });
    if (files) files->keep();
    progress.clear();
    print_runs(context, runs, format);
    if (!output_.quiet) context.err << "records: " << options.out.string() << "\n";
    if (settings.interrupted())
      context.err << "interrupted: continue with '"
                  << at_its_places(cat("tbd run --resume ", options.out.string()), settings) << "'\n";
    return code_of_runs(runs, settings);
  }

  RunArguments arguments_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<RunCommand>(); }

}  // namespace tbd::cli
