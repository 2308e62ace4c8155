// tbd tune: tries the known remedies on a workload and says what each brings. The workload as it is comes first,
// traced: its lost time orders the remedies. analysis/tune/tuning.h says how they are raced and joined; the winner is
// then set against the workload as it is by fresh launches in pairs, as tbd ab does.
#include <algorithm>
#include <ostream>

#include "analysis/answers.h"
#include "analysis/compare/paired.h"
#include "analysis/throughput.h"
#include "analysis/tune/tune_tables.h"
#include "base/amounts.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/data_fit.h"
#include "cli/locations.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/small_sets.h"
#include "cli/workload_options.h"
#include "measure/clock.h"
#include "measure/threading.h"
#include "record/reader.h"
#include "runner/allocators.h"
#include "runner/device_choice.h"
#include "runner/equivalence/check.h"

namespace tbd::cli {
namespace {

// Pairs of the final comparison, unless --pairs gives their number: time is reserved for kFewestFinalPairs to
// kKeptPairs, and time that the race leaves is spent on up to kMostPairs.
constexpr int64_t kFewestFinalPairs = 3, kKeptPairs = 8, kMostPairs = 20;

const Launch* clean_launch(const Record& record) { return last_launch(record, Pass::kClean); }

Trial trial_of(const CellRun& run, bool losses_repeat) {
  Trial trial{.rate = {}, .kind = std::string(name(run.outcome.kind)), .reason = run.outcome.reason, .loss = {}};
  if (run.outcome.kind != OutcomeKind::ok) return trial;
  const Record record = read_record(run.record);
  const CellThroughput throughput = cell_throughput(view(record), Basis::total);
  if (throughput.launches.empty()) return {.rate = {}, .kind = "failed", .reason = "no step was timed", .loss = {}};
  trial.rate = throughput.launches.back().value;
  const std::vector<StepRow>& steps = clean_launch(record)->steps;
  if (losses_repeat && steps.front().step == 1) trial.loss = steps.front().loss;
  return trial;
}

bool has_op(const Record& record, std::initializer_list<std::string_view> kinds) {
  return std::ranges::any_of(record.run.ops,
                             [&](const OpRow& row) { return std::ranges::find(kinds, row.op) != kinds.end(); });
}

// From the start of its process on, and what ending it takes.
double wall_seconds(const Launch& launch) {
  constexpr double kEnd = 1;
  return launch.steps.empty() ? kEnd : kEnd + 1e-9 * static_cast<double>(launch.steps.back().completed_ns);
}

std::optional<Profile> profile_if_any(const Record& record) {
  try {
    return profile_of(record);
  } catch (const Error&) {  // a damaged trace orders nothing
    return std::nullopt;
  }
}

std::vector<LostShare> lost_shares(const std::optional<Profile>& profile) {
  std::vector<LostShare> out;
  if (profile && profile->window_ns > 0)
    for (const LossPart& part : profile->loss)
      out.push_back({part.cause, static_cast<double>(part.ns) / static_cast<double>(profile->window_ns)});
  return out;
}

std::vector<StepLoss> step_losses(const Profile& profile) {
  std::vector<StepLoss> out;
  for (const LossPart& part : profile.loss)
    out.push_back({part.cause, 1e-9 * static_cast<double>(part.ns) / static_cast<double>(profile.steps)});
  return out;
}

// What a person writes before the command of a program; empty where the allocator is not here.
std::string own_allocator(const Allocator& allocator, const RunnerSettings& settings) {
  const std::vector<std::string> folders = library_folders(settings);
  if (!allocator_absence(allocator, folders).empty()) return "";
  return allocator_line(allocator, {}, folders);
}

// The same of a way of waiting.
std::string own_waiting(const WaitPolicy& wait) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : waiting_variables(wait)) settings.push_back(cat(name, "=", value));
  return join(settings, " ");
}

// A worker that hangs costs no more than a few launches.
Deadlines short_deadlines(Deadlines deadlines, double launch_seconds) {
  const double start = std::max(60.0, 10 * launch_seconds), step = std::max(10.0, 4 * launch_seconds);
  for (double* each : {&deadlines.hello, &deadlines.load, &deadlines.first_step, &deadlines.other})
    *each = std::min(*each, start);
  deadlines.step = std::min(deadlines.step, step);
  return deadlines;
}

// Launches of a tuning, a result set a round.
class RunnerBench final : public TuneBench {
 public:
  RunnerBench(Context& context, RunnerSettings settings, const RunOptions& turns, bool quiet)
      : context_(context), settings_(std::move(settings)), turns_(turns), quiet_(quiet) {}

  double now() override { return now_seconds(); }

  std::vector<Trial> measure(const std::vector<Workload>& workloads, const std::string& round) override {
    RunOptions options = turns_;
    options.pair_seed = *turns_.pair_seed + rounds_++;
    say(cat(round, ": ", workloads.size(), " launches, ", format_seconds(std::max(0.0, deadline - now())), " left"));
    const std::vector<CellRun> runs = run(workloads, options, round);
    if (runs.size() < workloads.size() || settings_.interrupted()) return {};
    std::vector<Trial> trials;
    for (const CellRun& each : runs) trials.push_back(trial_of(each, losses_repeat));
    return trials;
  }

  std::string refusal(const Workload& workload) override {
    return gate_refusal(workload, settings_, [&](const std::string& doing) {
      say(cat("checking mode ", workload.mode.empty() ? "as usual" : workload.mode.text(), ", layout ",
              workload.layout.empty() ? "as usual" : workload.layout.text(), ": ", doing));
    });
  }

  // Into the folder of this name.
  std::vector<CellRun> run(const std::vector<Workload>& workloads, RunOptions options, const std::string& name) {
    const SetLock set(turns_.out / name);
    options.out = set.set();
    ProgressPrinter progress(context_, quiet_ || !context_.err_is_terminal);
    return run_cells(workloads, options, settings_, [&](const Progress& p) { progress(p); });
  }

  void say(const std::string& sentence) {
    if (!quiet_) context_.err << "tune: " << sentence << std::endl;
  }
  void shorten_deadlines(double launch_seconds) {
    settings_.deadlines = short_deadlines(settings_.deadlines, launch_seconds);
  }
  const RunOptions& turns() const { return turns_; }
  const RunnerSettings& settings() const { return settings_; }

  double deadline = 0;
  bool losses_repeat = true;  // no dropout is drawn

 private:
  Context& context_;
  RunnerSettings settings_;
  const RunOptions turns_;
  bool quiet_;
  uint64_t rounds_ = 0;
};

class Tune final : public Command {
 public:
  std::string name() const override { return "tune"; }
  std::string summary() const override {
    return "Try the known remedies on a workload and say what each brings, and which together are fastest";
  }

  void declare(Options& options) override {
    cells_.declare(options);
    options.option("--budget", budget_, "Time for everything, such as 8m or 1h", {.show_default = true});
    options.option("--pairs", pairs_,
                   cat("Pairs of launches of the final comparison [", kFewestFinalPairs, " to ", kMostPairs,
                       ", as many as there is time for]"));
    options.option("--seconds", seconds_, "Of steps in each launch, at most", {.show_default = true});
    options.option("--order", order_, "Seed of the order in which launches take turns", {.show_default = true});
    options.option("--allow", allowed_,
                   "Remedies that change what is trained, comma-separated: bf16, tf32, fp16, batch [none]",
                   {.separator = ','});
    options.option("--out", out_, "Folder of the result sets, one a round [results/<time>-<model>-<hash>]");
    places_.declare(options);
    places_.declare_sharing(options);
    output_.declare(options);
  }

  int run(Context& context) override {
    return at_places(context, places_, [&](const RunnerSettings& settings) { return run_with(context, settings); });
  }

 private:
  int run_with(Context& context, const RunnerSettings& settings) {
    const double began = now_seconds();
    const Format format = output_.table_format();
    for (const std::string& each : allowed_)
      require_known_name("remedy", each, {std::begin(kAskedFirst), std::end(kAskedFirst)});
    const double budget = budget_seconds();
    pair_count_ = pairs_.empty() ? kFewestFinalPairs : positive(pairs_, "--pairs");
    RunOptions turns = in_turns(1, seconds_of_launch(seconds_), seed_from(order_), out_);
    require_budget(budget, *turns.limit_seconds, 0);
    Workload workload = asked_for(context, settings);
    note_interrupts();
    const SetLock set = result_set(turns.out, {workload});
    turns.out = set.set();
    RunnerBench bench(context, settings, turns, output_.quiet);
    bench.deadline = began + budget;
    const int code = tune_on(context, bench, workload, budget, format);
    if (!output_.quiet) context.err << "records: " << turns.out.string() << "\n";
    return code;
  }

  double budget_seconds() const try { return seconds_from(budget_, "--budget"); } catch (const Error& e) {
    fail(ErrorKind::usage, e.what());
  }

  Workload asked_for(Context& context, const RunnerSettings& settings) const {
    std::vector<Workload> all = with_devices(tbd::cells(with_launched_workers(cells_.set(), settings)), settings);
    if (all.size() != 1) fail(ErrorKind::usage, "tune takes one workload, got ", all.size());
    take_places(all, settings);
    find_data(context, all);
    require_classes_fit(all);
    return all[0];
  }

  // Throws Error(usage) where launches of so many seconds leave no time for an answer, `spent` seconds from the start.
  void require_budget(double budget, double launch_seconds, double spent) const {
    const double needed = spent + least_seconds({.reserve = pairs_seconds(pair_count_, launch_seconds),
                                                 .launch_seconds = launch_seconds});
    if (needed > budget)
      fail(ErrorKind::usage, "a budget of ", format_seconds(budget), " is too short: with launches of ",
           format_seconds(launch_seconds), " a race of one remedy and ", pair_count_,
           " pairs at the end take at least ", format_seconds(needed),
           ". Give more --budget, or fewer --pairs or --seconds");
  }

  int tune_on(Context& context, RunnerBench& bench, Workload& workload, double budget, Format format) {
    const double began = now_seconds();
    RunOptions traced = bench.turns();
    traced.passes = {Pass::kClean, Pass::kTrace};
    bench.say("the workload as it is, and where its time goes");
    const std::vector<CellRun> usual = bench.run({workload}, traced, "default");
    if (usual.empty() || bench.settings().interrupted()) return kCellFailed;
    const Record record = read_record(usual[0].record);
    if (usual[0].outcome.kind != OutcomeKind::ok || !clean_launch(record)) {
      context.err << folder_name(usual[0].cell) << ": " << tbd::name(usual[0].outcome.kind) << ": "
                  << usual[0].outcome.reason << "\n";
      return kCellFailed;
    }
    workload.batch = usual[0].cell.batch;  // one that was searched is searched once
    const double launch_seconds = wall_seconds(*clean_launch(record));
    traced_seconds_ = std::max(launch_seconds, now_seconds() - began - launch_seconds);
    if (pairs_.empty()) pair_count_ = pairs_within(budget / 3, launch_seconds, kFewestFinalPairs, kKeptPairs);
    require_budget(budget, launch_seconds, budget - (bench.deadline - now_seconds()));
    bench.shorten_deadlines(launch_seconds);
    bench.losses_repeat = workload.dropout != DropoutMode::kFramework || !has_op(record, {"dropout"});
    const TuneLimits limits{.deadline = bench.deadline,
                            .reserve = pairs_seconds(pair_count_, launch_seconds),
                            .launch_seconds = launch_seconds};
    std::vector<Candidate> all = candidates(record.run.workload, offer_for(workload, record, bench.settings()),
                                            lost_shares(profile_if_any(record)));
    for (Candidate& each : all)
      if (each.axis == "allocator")
        each.own = own_allocator(Allocator(each.value), bench.settings());
      else if (each.axis == "wait" && each.own.empty())
        each.own = own_waiting(WaitPolicy(each.value));
    const Tuned tuned = tune(workload, all, limits, bench);
    return conclude(context, bench, workload, tuned, record, launch_seconds, format);
  }

  Offer offer_for(const Workload& workload, const Record& record, const RunnerSettings& settings) const {
    const protocol::HelloReply can = capabilities(find_worker(settings.workers, workload.framework), settings);
    const bool has_images = has_op(record, {"conv2d", "conv_transpose2d", "max_pool", "avg_pool"});
    return {.modes = can.modes,
            .layouts = has_images ? can.layouts : std::vector<ImageLayout>(),
            .precisions = can.precisions,
            .cores = this_machine().cores,
            .allowed = allowed_};
  }

  // The winner against the workload as it is, and all that is printed.
  int conclude(Context& context, RunnerBench& bench, const Workload& workload, const Tuned& tuned, const Record& usual,
               double launch_seconds, Format format) const {
    std::optional<FinalComparison> last;
    std::vector<Table> tables;
    std::string command;
    bool failed = bench.settings().interrupted();
    if (!tuned.winner.empty() && !failed) {
      RunOptions pairs = bench.turns();
      const double left = std::max(1.0, bench.deadline - now_seconds()), traced = pairs_seconds(1, traced_seconds_);
      const int64_t count =
          pairs_.empty() ? pairs_within(left - traced, launch_seconds, pair_count_, kMostPairs) : pair_count_;
      pairs.launches = count;
      pairs.budget_seconds = left;
      if (pairs_seconds(count, launch_seconds) + traced <= left) pairs.passes = {Pass::kClean, Pass::kTrace};
      bench.say(cat("the final comparison: ", count, " pairs of launches, ", settings_in_words(tuned.winner)));
      const std::vector<CellRun> sides = bench.run({workload, tuned.workload}, pairs, "final");
      failed = sides.size() < 2 || code_of_runs(sides, bench.settings()) != kDone;
      if (sides.size() == 2) {
        last = compared(context, sides, tables);
        command = command_of(sides[1].record, workload.workers, bench.settings());
      }
    }
    const MeasuredWorkload& measured = usual.run.workload;
    const std::string subject =
        cat(measured.model, workload.config.empty() ? "" : cat(" ", workload.config), " in ", measured.framework);
    std::vector<Answer> answers = {{tune_sentence(subject, tuned, last), last ? command : ""}};
    for (const std::string& each : own_sentences(tuned)) answers.push_back({each, ""});
    if (format == Format::text || format == Format::markdown)
      context.out << print(answers, format, context.width) << "\n";
    tables.insert(tables.begin(), remedies_table(tuned));
    if (last) tables.insert(tables.begin(), winner_table(tuned, last, command));
    print_tables(context, tables, format);
    return failed ? kCellFailed : kDone;
  }

  static std::string command_of(const std::filesystem::path& record, int64_t workers, const RunnerSettings& settings) {
    const std::string line = cat("tbd run --like ", shell_word(record.string()));
    return workers == 1 ? line : at_its_places(line, settings);
  }

  // Puts the losses of both into a table where both were traced.
  static std::optional<FinalComparison> compared(Context& context, const std::vector<CellRun>& sides,
                                                 std::vector<Table>& tables) {
    for (const CellRun& run : sides)
      if (run.outcome.kind != OutcomeKind::ok)
        context.err << run.record.filename().string() << ": " << tbd::name(run.outcome.kind) << ": "
                    << run.outcome.reason << "\n";
    const Record a = read_record(sides[0].record), b = read_record(sides[1].record);
    const std::optional<Profile> before = profile_if_any(a), after = profile_if_any(b);
    if (before && after && before->steps > 0 && after->steps > 0)
      tables.push_back(losses_table(step_losses(*before), step_losses(*after)));
    const PairedComparison comparison = paired_comparison(a, b);
    if (!comparison.result) return std::nullopt;
    return FinalComparison{*comparison.result, static_cast<int64_t>(comparison.pairs.size())};
  }

  WorkloadOptions cells_;
  std::string budget_ = "20m", pairs_, seconds_ = "4", order_ = "1", out_;
  std::vector<std::string> allowed_;
  WorkerPlaces places_;
  int64_t pair_count_ = 0;
  double traced_seconds_ = 0;  // of a traced launch of the workload as it is
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_tune() { return std::make_unique<Tune>(); }

}  // namespace tbd::cli
