// tbd check: do frameworks train the same network? A verdict each, the guilty node where not.
#include <algorithm>
#include <ostream>

#include "base/json.h"
#include "cli/check_tables.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/report_files.h"
#include "cli/verdicts.h"
#include "cli/workload_options.h"
#include "record/frameworks.h"
#include "runner/equivalence/ranks.h"
#include "runner/worker_process.h"

namespace tbd::cli {
namespace {

class CheckCommand final : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override {
    return "Check that frameworks train the same network; name the node that differs";
  }

  void declare(Options& options) override {
    options.positional("MODEL", options_.model, "Model name or path of a program file");
    options.flag("--all", all_, "Check every model in all its tiny configurations");
    options.option("--records", records_,
                   "Check what these records, folders of records or @latest trained, and write the verdicts into them",
                   {.separator = ',', .one_argument = true});
    options.option("--config", options_.config,
                   "Configuration of the model [tiny if it has one: small, with all its ops]");
    options.option("--framework", options_.frameworks,
                   cat(known_framework_names(), "; NAME@VERSION, NAME@DIR [all built ones]"),
                   {.separator = ',', .one_argument = true});
    options.option("--batch", batch_, "Batch size [4 if a step needs less than 256 MiB, else 2]");
    options.option("--precision", options_.precision, "fp32, fp64", {.show_default = true});
    declare_axis(options, "layout", options_.layout);
    declare_axis(options, "mode", options_.mode);
    declare_axis(options, "device", options_.device);
    options.option("--seed", seed_, "Seed for weights and inputs", {.show_default = true});
    options.option(
        "--workers", workers_,
        "Check in fp64 that so many workers, --batch each, take the step of one [frameworks against each other; all "
        "that a launcher started]");
    options.option("--exchange", options_.exchange, "How they exchange: all_reduce, sharded", {.show_default = true});
    places_.declare(options);
    options.option("--out", out_,
                   "Write folders that reproduce a difference here, and with --hosts what the hosts exchange by files",
                   {.show_default = true});
    output_.declare(options);
  }

  int run(Context& context) override {
    return at_places(context, places_, [&](const RunnerSettings& settings) { return run_with(context, settings); });
  }

 private:
  int run_with(Context& context, const RunnerSettings& settings) {
    const Format format = output_.table_format();
    if (batch_) options_.batch = positive(*batch_, "--batch");
    options_.seed = seed_from(seed_);
    options_.reproduction = out_;
    if (!output_.quiet)
      options_.progress = [&](const std::string& doing) { context.err << "check: " << doing << "\n"; };
    if (const auto launched = launched_workers(settings); launched && !workers_) workers_ = cat(*launched);
    require_one_question();
    if (workers_) take_places({Workload{.workers = ranks()}}, settings);
    if (!workers_ && !settings.hosts.empty()) fail(ErrorKind::usage, "--hosts is of several workers: give --workers");
    if (!records_.empty()) return check_kept(context, settings, format);
    std::vector<CheckResult> results;
    int code = kDone;
    note_interrupts();
    try {
      const auto done = [&](const CheckResult& result) { show(result, results, context); };
      if (all_)
        check_all(options_, settings, done);
      else
        done(workers_ ? check_ranks(options_, ranks(), settings) : check_model(options_, settings));
    } catch (const WorkerFault& fault) {
      code = kCellFailed;
      if (fault.outcome().kind == OutcomeKind::interrupted)
        context.err << "check: interrupted"
                    << (all_ ? cat(" after ", results.size(), " of ", tiny_configs().size()) : "") << "\n";
      else
        context.err << "tbd: error: the reference: " << fault.what() << "\n";
    }
    if (results.empty()) return code;
    if (!output_.is_json())
      context.out << print(all_ ? verdict_table(results) : gate_table(results.front()), format, context.width);
    return std::max(code, explained(results, context.err));
  }

  int check_kept(Context& context, const RunnerSettings& settings, Format format) const {
    const std::vector<std::filesystem::path> paths(records_.begin(), records_.end());
    std::vector<UnreadableRecord> unreadable;
    std::vector<Record> records = readable_records(context, paths, output_.quiet, unreadable);
    note_interrupts();
    check_records(context, records, settings, output_.quiet);
    context.out << print(record_verdicts(records), format, context.width);
    const bool differs = std::ranges::any_of(records, [](const Record& r) { return r.run.verified == false; });
    return differs ? kVerdictFailed : kDone;
  }

  void require_one_question() const {
    require_known(options_.exchange);
    if (workers_) require_question_of_workers();
    if (!workers_ && options_.exchange != CheckOptions().exchange)
      fail(ErrorKind::usage, "--exchange ", options_.exchange, " is of several workers: ask for them with --workers");
    if (!records_.empty()) {
      if (all_ || !options_.model.empty())
        fail(ErrorKind::usage, "check takes only one of a model, --all and --records");
      return;
    }
    if (all_ && !options_.model.empty())
      fail(ErrorKind::usage, "check takes a model or --all, got '", options_.model, "' and --all");
    if (all_ && !options_.config.empty())
      fail(ErrorKind::usage, "--all checks every tiny configuration, --config ", options_.config, " names one");
    if (!all_ && options_.model.empty()) fail(ErrorKind::usage, "check needs a model, or --all, or --records");
  }

  void require_question_of_workers() const {
    if (all_) fail(ErrorKind::usage, "--workers checks one model, got --all");
    if (!records_.empty()) fail(ErrorKind::usage, "--workers checks a model, got --records");
    if (options_.exchange == ExchangeMode::kNone)
      fail(ErrorKind::usage, "--exchange none leaves nothing to check: each worker trains alone");
    if (options_.precision != CheckOptions().precision && options_.precision != Precision::kFp64)
      fail(ErrorKind::usage, "--workers checks in fp64, got --precision ", options_.precision);
    if (!options_.device.empty() && options_.device != Device::kCpu && options_.device != Device::kAuto)
      fail(ErrorKind::usage, "--workers checks on the CPU, got --device ", options_.device);
  }

  int64_t ranks() const {
    const int64_t count = positive(*workers_, "--workers");
    if (count < 2) fail(ErrorKind::usage, "--workers needs 2 or more, got ", count, ": one has nothing to sum");
    return count;
  }

  // The exit code.
  int explained(const std::vector<CheckResult>& results, std::ostream& err) const {
    bool failed = false, fault = false;
    for (const CheckResult& result : results)
      for (const FrameworkVerdict& verdict : result.verdicts) {
        if (all_ && !verdict.passed()) err << result.model << " " << result.config << ", ";
        explain(verdict, err);
        failed = failed || (verdict.fault.empty() && !verdict.passed());
        fault = fault || !verdict.fault.empty();
      }
    return fault ? kCellFailed : failed ? kVerdictFailed : kDone;
  }

  // JSON as results come; tables at the end.
  void show(const CheckResult& result, std::vector<CheckResult>& results, Context& context) const {
    if (output_.is_json())
      for (const FrameworkVerdict& verdict : result.verdicts) print_json(result, verdict, context.out);
    context.out.flush();
    results.push_back(result);
  }

  static void print_json(const CheckResult& result, const FrameworkVerdict& verdict, std::ostream& out) {
    Json json = {
        {"model", result.model}, {"config", result.config}, {"model_hash", result.model_hash}, {"batch", result.batch}};
    json.update(to_json(verdict));
    out << json.dump() << "\n";
  }

  CheckOptions options_;
  std::vector<std::string> records_;
  std::optional<std::string> batch_, workers_;
  std::string seed_ = "0", out_ = "results/differences";
  bool all_ = false;
  WorkerPlaces places_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<CheckCommand>(); }

}  // namespace tbd::cli
