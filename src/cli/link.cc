// tbd link: what an exchange between workers takes by the size of what is summed, and the law behind it.
#include <ostream>

#include "analysis/link_model.h"
#include "base/amounts.h"
#include "base/files.h"
#include "base/json_value.h"
#include "base/link_limits.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/workload_options.h"
#include "measure/environment.h"
#include "record/frameworks.h"
#include "runner/link_sweep.h"
#include "runner/worker_process.h"

namespace tbd::cli {
namespace {

Table sizes_table(const LinkSweep& sweep, bool one_machine) {
  const Algorithm algorithm = algorithm_of(sweep.engine, sweep.workers);
  Table table{.title = cat("All-reduce between ", sweep.workers, " workers of ", sweep.framework, " ",
                           sweep.framework_version, " by ", sweep.engine,
                           sweep.link.empty() ? "" : cat(" over ", sweep.link))};
  table.columns = {{"type", "type"},
                   {"bytes", "size", Unit::bytes},
                   {"repetitions", "repetitions", Unit::count},
                   {"time_s", "time", Unit::seconds},
                   {"median_s", "median", Unit::seconds},
                   {"slow", "slow", Unit::fraction},
                   {"busy_s", "busy", Unit::seconds},
                   {"algbw", "algbw, B/s", Unit::bytes},
                   {"busbw", "busbw, B/s", Unit::bytes}};
  const double rate = limits_of(Link(sweep.link)).bits_per_second / 8;
  if (rate > 0) table.columns.push_back({"of_link", "of the link", Unit::fraction});
  for (const LinkTimes& size : sweep.sizes) {
    const LinkFigures figures = figures_of(size, algorithm);
    table.rows.push_back({std::string(exchanged_name(size.dtype)), size.bytes, std::ssize(size.times_ns), figures.fast,
                          figures.median, figures.slow_share, cell(figures.busy), figures.algbw, figures.busbw});
    if (rate > 0) table.rows.back().emplace_back(figures.busbw / rate);
  }
  table.notes = {"time: the lower decile of the repetitions; slow: those that took more than twice as long",
                 "busy: processor time of a worker for one, whoever used its processors, with the small sum before it"};
  if (!one_machine)
    table.notes.push_back(
        "machines have clocks of their own: an exchange is timed by the rank that took least, the last");
  return table;
}

std::vector<TableCell> parameter_row(const std::string& name, const std::string& type, const LinkEstimate& estimate,
                                     const std::string& unit) {
  return {name, type, estimate.value, estimate.interval.low, estimate.interval.high, unit};
}

Table fit_table(const LinkFit& fit) {
  Table table{.title = "The law t(S) = alpha steps + (beta wire + gamma) S"};
  if (!fit.model) {
    table.columns = {{"withheld", "withheld"}};
    table.rows = {{fit.withheld}};
    return table;
  }
  table.columns = {{"parameter", "parameter"}, {"type", "type"},    {"value", "value"},
                   {"low", "95 % from"},       {"high", "95 % to"}, {"unit", "unit"}};
  table.rows.push_back(parameter_row("alpha", "", fit.model->alpha, "s/step"));
  if (fit.model->beta) table.rows.push_back(parameter_row("beta", "", *fit.model->beta, "s/B"));
  for (const auto& [dtype, gamma] : fit.model->gamma)
    table.rows.push_back(parameter_row(fit.model->beta ? "gamma" : "beta wire + gamma",
                                       std::string(exchanged_name(dtype)), gamma, "s/B"));
  table.notes = {link_sentence(fit)};
  return table;
}

class LinkCommand final : public Command {
 public:
  std::string name() const override { return "link"; }
  std::string summary() const override {
    return "Measure what an exchange of gradients between workers takes by its size";
  }

  void declare(Options& options) override {
    options.option("--framework", request_.framework, cat(known_framework_names(), "; NAME@VERSION, NAME@DIR"),
                   {.show_default = true});
    options.option("--workers", workers_,
                   "Workers that sum together, each on cores of its own [2, or all that a launcher started]");
    declare_axis(options, "link", link_);
    options.option("--dtype", dtypes_, "Types to sum, comma-separated: fp32, bf16, fp16, fp64 [fp32]",
                   {.separator = ','});
    options.option("--sizes", sizes_,
                   "Sizes of an exchange, comma-separated, with their unit [by 4 from 256B to 64MiB]",
                   {.separator = ','});
    options.option("--repetitions", repetitions_, "Exchanges of each size, at most", {.show_default = true});
    options.option("--seconds", seconds_, "Time for each size in s; 5 exchanges are made whatever they take",
                   {.show_default = true});
    options.option("--out", out_, "Write the times of all exchanges to this JSON file");
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
    read_request(settings);
    if (request_.workers > 1) take_places({Workload{.workers = request_.workers}}, settings);
    const bool one_machine = run_on_one_machine(settings, request_.workers);
    if (!one_machine && !out_.empty())
      fail(ErrorKind::usage, "--out keeps what predictions take for links of one machine: leave it out with hosts");
    note_interrupts();
    const auto doing = [&](const std::string& what) {
      if (!output_.quiet) context.err << "link: " << what << "\n";
    };
    LinkSweep sweep;
    std::string fault;
    try {
      measure_link(request_, settings, sweep, doing);
    } catch (const WorkerFault& caught) {
      fault = caught.what();
    }
    if (!sweep.sizes.empty()) show(context, sweep, one_machine, format);
    if (fault.empty()) return kDone;
    context.err << "tbd: error: " << fault << "\n";
    return kCellFailed;
  }

  void read_request(const RunnerSettings& settings) {
    request_.workers =
        workers_ ? positive(*workers_, "--workers") : launched_workers(settings).value_or(request_.workers);
    request_.link = link_of(limits_of(Link(link_)));
    request_.repetitions = positive(repetitions_, "--repetitions");
    request_.seconds = number_from(seconds_, "--seconds");
    if (request_.seconds <= 0) fail(ErrorKind::usage, "--seconds must be above 0, got ", seconds_);
    if (!dtypes_.empty()) request_.dtypes.clear();
    for (const std::string& each : dtypes_) request_.dtypes.push_back(exchanged_type(each));
    if (!sizes_.empty()) request_.sizes.clear();
    for (const std::string& each : sizes_) request_.sizes.push_back(bytes_from(each, "--sizes"));
    const std::filesystem::path folder = std::filesystem::path(out_).parent_path();
    if (!folder.empty() && !is_folder(folder)) fail(ErrorKind::usage, "--out: there is no folder ", folder.string());
    if (!out_.empty() && is_folder(out_)) fail(ErrorKind::usage, "--out: ", out_, " is a folder, not a file");
    if (places_.oversubscribe && !out_.empty())
      fail(ErrorKind::usage,
           "--out keeps what predictions rest on, and workers that share cores measure no link: "
           "leave out --out or --oversubscribe");
  }

  void show(Context& context, const LinkSweep& sweep, bool one_machine, Format format) const {
    const LinkFit fit = fit_link(std::span(&sweep, 1));
    print_tables(context, {sizes_table(sweep, one_machine), fit_table(fit)}, format);
    if (!out_.empty()) write_file_atomic(out_, to_text(sweep, captured_environment(context.environment)));
  }

  LinkRequest request_;
  WorkerPlaces places_;
  std::optional<std::string> workers_;
  std::string repetitions_ = "200", seconds_ = "1", link_, out_;
  std::vector<std::string> dtypes_, sizes_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_link() { return std::make_unique<LinkCommand>(); }

}  // namespace tbd::cli
