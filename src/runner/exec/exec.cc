// While a launch runs, the process tree and the machine are sampled at the end of a step about twice a second. What
// they used between two samples is shared out among the steps between them, by their times. Where steps are to be
// traced, one run of the program is two launches: clean until enough is measured, then trace.
#include "runner/exec/exec.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/environment.h"
#include "measure/host_sampler.h"
#include "measure/host_use.h"
#include "record/writer.h"
#include "runner/exec/watched_command.h"
#include "runner/gpu_observer.h"
#include "runner/launch_schedule.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kBlockNs = 500'000'000;  // between two samples, at least
constexpr double kPause = 0.05;            // seconds between two looks at a program
constexpr std::string_view kGpu = "cuda";  // as hooks name one: "cuda:0"
constexpr int64_t kMostSteps = 200'000;    // of a launch: more tell no more
constexpr double kUnsettled = 4;           // times what is wanted, where a series never settles
constexpr double kPauseOfQuestions = 100;  // pause over what a question to the stop rule takes
constexpr double kMostBunched = 0.1;       // of the steps, that are told at once with others
constexpr int64_t kUnanswered = 50;        // steps after which nobody will begin to trace any more,
constexpr double kUnansweredSeconds = 2;   // and the time
constexpr const char* kScriptEndings[] = {".py", ".sh", ".bash", ".jl", ".lua", ".R", ".js", ".rb", ".pl"};

std::string steps_text(int64_t steps) { return steps == 1 ? "one step" : cat(steps, " steps"); }

std::optional<int64_t> waited_ns(const HostDelta& delta) {
  if (delta.threads.empty()) return std::nullopt;
  int64_t sum = 0;
  for (const ThreadUse& thread : delta.threads) sum += thread.wait_ns;
  return sum;
}

std::optional<int64_t> foreign_ns(const HostDelta& delta) {
  if (!delta.cpu_ns || delta.machine_cpus == 0) return std::nullopt;
  static const int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return std::max<int64_t>(0, delta.machine.busy() * tick_ns - *delta.cpu_ns);
}

// Parts by the steps' times, which add up to the amount. The first step began at `began_ns`.
void share_out(std::optional<int64_t> amount, std::optional<int64_t> StepRow::*column, std::span<StepRow> rows,
               int64_t began_ns) {
  if (!amount) return;
  const auto whole = static_cast<double>(rows.back().completed_ns - began_ns);
  int64_t given = 0;
  for (StepRow& row : rows) {
    const double share = static_cast<double>(row.completed_ns - began_ns) / whole;
    const int64_t until = std::llround(static_cast<double>(*amount) * share);
    row.*column = until - given;
    given = until;
  }
}

// What was used while these steps ran, which end a block.
void fill(std::span<StepRow> rows, int64_t began_ns, const HostDelta& delta) {
  const std::pair<std::optional<int64_t>, std::optional<int64_t> StepRow::*> amounts[] = {
      {delta.user_ns, &StepRow::user_cpu_ns},
      {delta.system_ns, &StepRow::system_cpu_ns},
      {delta.minor_faults, &StepRow::minor_faults},
      {delta.major_faults, &StepRow::major_faults},
      {waited_ns(delta), &StepRow::runqueue_wait_ns},
      {delta.machine_cpus > 0 ? std::optional(delta.machine.steal) : std::nullopt, &StepRow::steal_ticks}};
  for (const auto& [amount, column] : amounts) share_out(amount, column, rows, began_ns);
  StepRow& last = rows.back();
  last.rss_bytes = delta.rss_bytes;
  last.foreign_ns = foreign_ns(delta);
  last.pause_ns = 0;  // nothing ran between two blocks
}

// The stop rule of stats/effort.h, for wants that a person names.
bool has_enough(Series times, const EffortLevel& wants) {
  const auto enough = [&](Series steps) {
    return std::ssize(steps) >= wants.steps && std::accumulate(steps.begin(), steps.end(), 0.0) >= wants.seconds;
  };
  return enough(times) && enough(times.subspan(static_cast<size_t>(find_stable_phase(times).start)));
}

// Whether any process of the tree has this file open.
bool is_held(pid_t root, const fs::path& file) {
  std::error_code error;
  for (const pid_t pid : process_tree(root))
    for (const auto& entry : fs::directory_iterator(cat("/proc/", pid, "/fd"), error))
      if (fs::read_symlink(entry.path(), error) == file) return true;
  return false;
}

// One launch: ended once enough is measured, which is no fault, or by itself.
struct CommandLaunch {
  LaunchInfo info;  // outcome included
  HookFacts facts;
  bool disturbed = false;              // by other work, so much that another launch is wanted
  bool bunched = false;                // many of its steps were told several at once
  std::optional<int64_t> ended_after;  // the program ended by itself after so many steps
};
using StepSink = std::function<void(const std::string& stage, int64_t steps)>;  // stage as in Progress
using LaunchEnd = std::function<void(CommandLaunch&)>;  // its rows are written, the rest is still to be

// What one run of a program is: a clean launch, a launch whose steps are traced, or one after the other.
struct RunParts {
  std::optional<int64_t> clean;      // its number
  const TraceWish* trace = nullptr;  // nullptr: none
  std::optional<int64_t> from;       // of the program's steps the first traced one, where that is settled
};

Outcome failed(const std::string& reason) { return {.kind = OutcomeKind::failed, .reason = reason}; }

// Why no profiler can be asked; empty where one can.
std::string without_profiler(const HookFacts& facts) {
  if (!facts.framework.empty()) return "";
  return "no hook of PyTorch, Keras or MXNet told of its steps, so there is no profiler of theirs to start";
}

class RunOfCommand {
 public:
  RunOfCommand(const ExecOptions& options, const RunnerSettings& settings, RecordWriter& record, const StepSink& sink,
               const LaunchEnd& end)
      : options_(options), settings_(settings), record_(record), sink_(sink), end_(end) {}

  // Throws only Error(io) when the record cannot be written.
  void run(const RunParts& parts) {
    parts_ = parts;
    begin_launch(parts.clean ? Pass::kClean : Pass::kTrace, parts.clean.value_or(1));
    sink_("start", 0);
    try {
      command_.emplace(WatchOptions{.argv = options_.command,
                                    .environment = settings_.environment,
                                    .step_regex = options_.step_regex,
                                    .folder = folder_.path().string(),
                                    .traces = parts.trace != nullptr});
    } catch (const Error& e) {
      return end_launch(failed(e.what()));
    }
    if (parts.from) ask();
    sampler_.emplace(command_->pid());
    cores_ = usable_cores(command_->pid());
    sink_("first step", 0);
    const Outcome outcome = follow();
    if (!ended_) end_block();
    const ExitStatus status = command_->terminate(ended_ ? 0 : settings_.deadlines.grace);
    if (ended_) take(command_->take_steps(0));
    write_rows();
    report();
    if (is_tracing())
      end_launch(outcome.kind == OutcomeKind::ok ? outcome_of_trace(status) : outcome);
    else
      end_launch(ended_ ? outcome_of_end(status) : outcome);
  }

 private:
  bool is_tracing() const { return launch_.info.pass == Pass::kTrace; }

  void begin_launch(const Pass& pass, int64_t number) {
    launch_ = {};
    launch_.info.pass = pass;
    launch_.info.number = number;
    launch_.info.start = wall_label();
    launch_folder_ = record_.begin_launch(launch_.info);
  }

  void end_launch(Outcome outcome) {
    if (outcome.kind != OutcomeKind::ok) outcome.repro = options_.repro;
    launch_.info.outcome = std::move(outcome);
    if (ended_) launch_.ended_after = steps_;
    end_(launch_);
  }

  // The clean launch has enough; the same run of the program goes on.
  void begin_trace() {
    end_block();
    write_rows();
    report();
    end_launch({});
    before_ = steps_;
    begin_launch(Pass::kTrace, 1);
    launch_.info.first_step_began_ns = last_ns_;
    first_ = last_;
    if (!parts_.from) ask();
  }

  void ask() {
    asked_ns_ = now_ns();
    asked_from_ = parts_.from.value_or(steps_ + parts_.trace->window() + 1);
    command_->ask_for_trace(parts_.trace->window(), asked_from_);
  }

  // Until enough is measured, the program ends or is given up.
  Outcome follow() {
    for (;;) {
      const bool at_next_step = steps_ == 0 || is_tracing() || now_ns() - sampled_ns_ >= kBlockNs;
      if (!at_next_step) std::this_thread::sleep_for(std::chrono::duration<double>(kPause));
      take(command_->take_steps(at_next_step ? kPause : 0));
      if (settings_.interrupted())
        return {.kind = OutcomeKind::interrupted, .reason = cat("interrupted after ", steps_text(steps_))};
      if (is_tracing() ? window_is_over() : is_enough()) {
        if (is_tracing() || !parts_.trace) return {};
        begin_trace();
      }
      ended_ = command_->poll();
      if (ended_) return {};
      if (1e-9 * static_cast<double>(now_ns() - last_sign_ns_) > options_.patience_seconds) return given_up();
    }
  }

  void take(const std::vector<int64_t>& stamps) {
    for (const int64_t stamp : stamps) {
      StepRow row{.step = ++steps_ - before_, .completed_ns = stamp - began_ns_, .units = options_.units};
      if (last_ns_ > 0) times_.push_back(1e-9 * static_cast<double>(row.completed_ns - last_ns_));
      if (steps_ == 1) launch_.info.first_step_seconds = 1e-9 * static_cast<double>(row.completed_ns);
      last_ns_ = row.completed_ns;
      last_sign_ns_ = stamp;
      rows_.push_back(row);
      if (!is_tracing() && parts_.from && steps_ + parts_.trace->window() + 1 == *parts_.from) begin_trace();
    }
    if (stamps.empty()) return;
    sink_(is_tracing() ? "trace" : "steps", steps_);
    const bool is_border = is_tracing() && crosses_border();
    if (!ended_ && (is_border || !first_ || now_ns() - sampled_ns_ >= kBlockNs)) end_block();
  }

  // Whether the window has begun or ended since this was last asked: samples there keep what writing the trace takes
  // out of its steps.
  bool crosses_border() {
    const auto window = command_->facts().tracing;
    const int borders = !window ? 0 : steps_ < (*window)[1] ? 1 : 2;
    return std::exchange(borders_, borders) != borders;
  }

  // The first sample ends the steps before, which have no amounts.
  void end_block() {
    if (rows_.empty()) return;
    std::optional<HostSample> sample;
    try {
      sample = sampler_->sample();
    } catch (const Error&) {  // the program ended just now
      return;
    }
    sampled_ns_ = sample->time_ns;
    peak_bytes_ = std::max({peak_bytes_, sample->rss_bytes, sample->peak_rss_bytes.value_or(0)});
    if (last_) fill(rows_, block_began_ns_, difference(*last_, *sample));
    if (!first_) {
      first_ = sample;
      watch_gpu();
    }
    last_ = std::move(sample);
    block_began_ns_ = last_ns_;
    write_rows();
  }

  // The hook names the program's device at the first step. Traced launches are not sampled.
  void watch_gpu() {
    const std::string device = command_->facts().device;
    if (is_tracing() || !device.starts_with(kGpu)) return;
    for (const pid_t each : process_tree(command_->pid())) on_gpu_.insert(each);
    gpu_.emplace(Device(device), settings_.environment, settings_.gpu_library);
  }

  void write_rows() {
    if (!rows_.empty()) record_.append(rows_);
    rows_.clear();
  }

  bool is_enough() {
    const EffortLevel& wants = options_.wants;
    const double now = now_seconds();
    if (parts_.from) return false;  // which ends it, wherever it is
    if (steps_ >= kMostSteps) return true;
    if (times_.empty()) return false;
    const double stepping = 1e-9 * static_cast<double>(last_ns_) - *launch_.info.first_step_seconds;
    if (wants.limit_seconds > 0 && stepping >= wants.limit_seconds) return true;
    if (wants.seconds == 0 && std::ssize(times_) >= kUnsettled * wants.steps) return true;
    const auto since = std::ssize(times_) - asked_steps_;
    const bool is_due = since > 0 && (options_.effort == Effort::smoke || wants.steps < 25 ||
                                      check_is_due(since, now - asked_seconds_));
    if (!is_due || now - asked_seconds_ < kPauseOfQuestions * asking_seconds_) return false;
    asked_steps_ = std::ssize(times_);
    const bool enough = has_enough(times_, wants);
    asked_seconds_ = now_seconds();
    asking_seconds_ = asked_seconds_ - now;
    return enough;
  }

  // With as many untraced steps after it as it has, or where none will come.
  bool window_is_over() const {
    if (steps_ == 0) return false;
    const HookFacts facts = command_->facts();
    if (!facts.untraced.empty() || !without_profiler(facts).empty()) return true;
    if (facts.traced) return steps_ > (*facts.traced)[1] + parts_.trace->window();
    const double waited = 1e-9 * static_cast<double>(now_ns() - asked_ns_);
    return !facts.tracing && steps_ > asked_from_ + kUnanswered && waited > kUnansweredSeconds;
  }

  Outcome given_up() const {
    const std::string time = format_seconds(options_.patience_seconds);
    const bool by_regex = !options_.step_regex.empty();
    if (steps_ == 0)
      return {.kind = OutcomeKind::timeout,
              .reason = cat("no step in ", time, ": ", looked_for(command_->facts(), by_regex))};
    const bool is_closed = !by_regex && !is_held(command_->pid(), folder_.path() / "steps");
    return {.kind = OutcomeKind::timeout,
            .reason = cat("no step for ", time, " after ", steps_text(steps_),
                          is_closed ? cat("; it has closed descriptor ", WatchedCommand::kStepDescriptor,
                                          " (TBD_STEP_FD), through which it told of them")
                                    : std::string())};
  }

  Outcome outcome_of_end(const ExitStatus& status) const {
    if (steps_ == 0)
      return failed(cat("the program ", status.words(),
                        " before its first step: ", looked_for(launch_.facts, !options_.step_regex.empty())));
    if (!status.ok()) return failed(cat("the program ", status.words(), " after ", steps_text(steps_)));
    if (steps_ == 1) return failed("the program ended after one step: two tell how long a step takes");
    return {};
  }

  Outcome outcome_of_trace(const ExitStatus& status) {
    const HookFacts& facts = launch_.facts;
    if (facts.traced) return imported({facts.trace_file, *facts.traced, before_});
    if (!facts.untraced.empty()) return failed(cat("the profiler of ", facts.framework, " failed: ", facts.untraced));
    if (steps_ == 0 && ended_) return outcome_of_end(status);
    if (const std::string why = without_profiler(facts); !why.empty()) return failed(why);
    const std::string ending = cat("the program ", ended_ ? status.words() : "went on", " after ", steps_text(steps_));
    if (facts.tracing)
      return failed(cat(ending, ", before its trace of the steps ", (*facts.tracing)[0], " to ", (*facts.tracing)[1],
                        " was written"));
    return failed(cat(ending, ended_ ? ", before step " : " and did not begin to trace at step ", asked_from_,
                      ended_ ? ", at which the traced window was to begin" : ""));
  }

  Outcome imported(WrittenTrace written) {
    try {
      const fs::path kept = launch_folder_ / written.file.filename();
      fs::copy_file(written.file, kept);
      written.file = kept;
      parts_.trace->import(written, launch_folder_);
    } catch (const std::exception& e) {
      return failed(cat("its trace cannot be used: ", e.what()));
    }
    launch_.info.traced = {{written.steps[0] - before_, written.steps[1] - before_}};
    return {};
  }

  void report() {
    launch_.facts = command_->facts();
    LaunchInfo& info = launch_.info;
    info.cores = cores_;
    if (peak_bytes_ > 0) info.peak_rss_bytes = peak_bytes_;
    launch_.bunched = static_cast<double>(command_->bunched()) > kMostBunched * static_cast<double>(steps_);
    if (!first_ || last_->time_ns == first_->time_ns) return;
    const HostDelta delta = difference(*first_, *last_);
    info.host = host_of_launch(delta, cores_);
    if (gpu_)
      info.gpu = gpu_->end({.begin_ns = first_->time_ns, .first_end_ns = first_->time_ns, .end_ns = last_->time_ns},
                           on_gpu_, launch_folder_);
    gpu_.reset();
    launch_.disturbed = disturbed(delta, host_use(delta, cores_)).level == Disturbance::repeat;
    if (delta.energy_uj) info.energy_joules = 1e-6 * static_cast<double>(*delta.energy_uj);
  }

  const ExecOptions& options_;
  const RunnerSettings& settings_;
  RecordWriter& record_;
  const StepSink& sink_;
  const LaunchEnd& end_;
  RunParts parts_;
  CommandLaunch launch_;  // at hand
  fs::path launch_folder_;
  TemporaryFolder folder_{"tbd-exec"};
  int64_t began_ns_ = now_ns();
  std::optional<WatchedCommand> command_;
  std::optional<HostSampler> sampler_;
  std::optional<GpuObserver> gpu_;
  std::set<int64_t> on_gpu_;         // the program's processes
  std::optional<ExitStatus> ended_;  // by itself
  double cores_ = 0;
  std::vector<StepRow> rows_;  // of the block at hand
  std::vector<double> times_;
  int64_t steps_ = 0, before_ = 0;            // of the program: so far, and before the launch at hand
  int64_t last_ns_ = 0, block_began_ns_ = 0;  // on the clock of completed_ns
  int64_t last_sign_ns_ = now_ns(), sampled_ns_ = 0;
  std::optional<HostSample> first_, last_;
  int64_t peak_bytes_ = 0;
  int64_t asked_steps_ = 0;  // the stop rule, and when and how long it took
  double asked_seconds_ = 0, asking_seconds_ = 0;
  int64_t asked_from_ = 0, asked_ns_ = 0;  // of the traced window: its first step, and when it was asked for
  int borders_ = 0;                        // of the window, that were seen: its begin, its end
};

// "train-external", or with the first number that is free.
fs::path free_folder(const fs::path& set, const std::string& model) {
  std::string name = cat(fs::path(model).stem().string(), "-", Mode::kExternal);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("._-", c)) c = '_';
  fs::path folder = set / name;
  for (int twin = 2; fs::exists(folder); ++twin) folder = set / cat(name, "-", twin);
  return folder;
}

RunInfo run_info(const ExecOptions& options, const RunnerSettings& settings) {
  RunInfo run{.created = wall_label(), .tool = settings.tool};
  MeasuredWorkload& workload = run.workload;
  workload.model = program_name(options.command);
  workload.framework = Mode::kExternal.text();
  workload.mode = Mode::kExternal;
  workload.precision = Precision();
  workload.input_mode = InputMode();
  workload.model_hash = sha256_hex(join(options.command, std::string_view("\0", 1)));
  workload.unit = options.unit;
  workload.effort = name(options.effort);
  workload.repro = options.repro;
  run.request = workload;
  run.environment = captured_environment(settings.environment);
  return run;
}

void learn(const CommandLaunch& launch, RunInfo& run) {
  MeasuredWorkload& workload = run.workload;
  if (!launch.facts.framework.empty()) {
    workload.framework = launch.facts.framework;
    workload.framework_version = launch.facts.framework_version;
  }
  if (launch.facts.device.starts_with(kGpu)) {
    workload.device = Device(launch.facts.device);
    workload.synchronisation = "none";
  }
  if (launch.bunched && std::ranges::count(run.flags, "bunched-steps") == 0) run.flags.push_back("bunched-steps");
}

// As runs of workloads do with launches that other work disturbed.
void set_aside(const fs::path& folder, LaunchInfo& launch) {
  const fs::path launches = folder / "launches", from = launches / launch.folder_name();
  launch.pass = Pass("disturbed");
  for (launch.number = 1; fs::exists(launches / launch.folder_name());) ++launch.number;
  fs::rename(from, launches / launch.folder_name());
}

// One command while it is measured: its record, and the time of its launches so far.
class CommandRun {
 public:
  CommandRun(const ExecOptions& options, const RunnerSettings& settings)
      : options_(options),
        settings_(settings),
        run_(run_info(options, settings)),
        folder_(free_folder(options.out, run_.workload.model)),
        record_(folder_, run_),
        schedule_({Pass::kClean}, options.effort, options.wants.launches,
                  time_limits(options.effort, options.wants.launches, std::nullopt, std::nullopt), now_seconds()) {}

  std::string name() const { return folder_.filename().string(); }
  bool is_over() const { return outcome_.kind != OutcomeKind::ok; }
  const Outcome& outcome() const { return outcome_; }

  // Once more where other work disturbed it and there is time for it. The last one goes on to the traced steps.
  void launch(int64_t number, const StepSink& sink) {
    const TraceWish* trace = options_.trace && number == options_.wants.launches ? &*options_.trace : nullptr;
    std::optional<int64_t> ended_after;
    std::string untraceable;
    for (bool again = true; again;) {
      const double began = now_seconds();
      again = false;
      run_program({.clean = number, .trace = trace, .from = trace ? trace->from : std::nullopt}, sink,
                  [&](CommandLaunch& launch) {
                    if (launch.info.pass == Pass::kTrace) return;
                    ended_after = launch.ended_after;
                    untraceable = without_profiler(launch.facts);
                    again = is_to_repeat(launch, number, now_seconds() - began);
                    if (again) set_aside(folder_, launch.info);
                  });
    }
    if (!trace || !ended_after || is_over()) return;
    if (untraceable.empty())
      trace_anew(*trace, *ended_after, sink);
    else
      leave_untraced(untraceable);
  }
  CellRun finish() {
    record_.finish(run_, outcome_);
    return {.cell = run_.workload, .outcome = outcome_, .record = folder_};
  }

 private:
  bool is_to_repeat(const CommandLaunch& launch, int64_t number, double seconds) {
    measured_ += seconds;
    const Turn turn{.workload = 0, .pass = Pass::kClean, .number = number};
    const bool again = options_.repeats && !options_.trace && repeated_ < options_.wants.launches && launch.disturbed &&
                       launch.info.outcome.kind == OutcomeKind::ok && schedule_.may_repeat(turn, measured_, seconds);
    if (again) ++repeated_;
    return again;
  }

  // `look` sees each launch of the run before its end is written.
  void run_program(const RunParts& parts, const StepSink& sink, const LaunchEnd& look) {
    RunOfCommand(options_, settings_, record_, sink, [&](CommandLaunch& launch) {
      launch.info.environment_hash = environment_hash(run_.environment);
      settle(launch.info);
      look(launch);
      learn(launch, run_);
      record_.update(run_);
      record_.end_launch(launch.info);
    }).run(parts);
  }

  // What was measured without a trace stays, whatever becomes of the trace.
  void settle(const LaunchInfo& launch) {
    if (launch.pass != Pass::kTrace || launch.outcome.kind == OutcomeKind::interrupted) outcome_ = launch.outcome;
  }

  // The program ended by itself before enough was measured: another run of it is traced, in the middle of its steps.
  void trace_anew(const TraceWish& trace, int64_t steps, const StepSink& sink) {
    const int64_t window = trace.window(), from = (steps - window) / 2 + 1;
    if (trace.from)
      return leave_untraced(cat("the program ended by itself after ", steps_text(steps), ", before step ", *trace.from,
                                ", at which the traced window was to begin"));
    if (from < 3)
      return leave_untraced(cat("the program ended by itself after ", steps_text(steps), ": too few for a window of ",
                                window, " traced steps in the middle of them"));
    settings_.notice(cat("the program ended by itself after ", steps_text(steps),
                         ": it is started once more, to trace from step ", from, " on"));
    run_program({.trace = &trace, .from = from}, sink, [](CommandLaunch&) {});
  }

  void leave_untraced(const std::string& reason) {
    LaunchInfo launch{.pass = Pass::kTrace, .start = wall_label()};
    record_.begin_launch(launch);
    launch.outcome = {.kind = OutcomeKind::failed, .reason = reason, .repro = options_.repro};
    record_.end_launch(launch);
  }

  const ExecOptions& options_;
  const RunnerSettings& settings_;
  RunInfo run_;
  const fs::path folder_;
  RecordWriter record_;
  LaunchSchedule schedule_;
  Outcome outcome_;
  int64_t repeated_ = 0;
  double measured_ = 0;
};

// The launches of several commands, which take turns.
class ExecRun {
 public:
  ExecRun(std::span<const ExecOptions> commands, const RunnerSettings& settings, const ProgressSink& progress)
      : launches_(commands.front().wants.launches), progress_(progress) {
    for (const ExecOptions& each : commands) runs_.push_back(std::make_unique<CommandRun>(each, settings));
  }

  std::vector<CellRun> run(std::optional<uint64_t> pair_seed) {
    std::vector<int64_t> numbers(runs_.size());
    for (const size_t at : launch_order(runs_.size(), launches_, pair_seed)) {
      CommandRun& run = *runs_[at];
      number_ = ++numbers[at];
      at_ = at;
      if (run.is_over()) continue;
      run.launch(number_, [this](const std::string& stage, int64_t steps) { tell(stage, steps, ""); });
      if (number_ == launches_ || run.is_over()) tell("done", 0, run.outcome().reason);
      if (run.outcome().kind == OutcomeKind::interrupted) break;
    }
    std::vector<CellRun> out;
    for (const auto& run : runs_) out.push_back(run->finish());
    return out;
  }

 private:
  void tell(const std::string& stage, int64_t steps, const std::string& note) {
    const double now = now_seconds();
    if (!progress_ || (stage == stage_ && now - told_ < 1)) return;
    stage_ = stage;
    told_ = now;
    progress_({.cell = at_,
               .cells = runs_.size(),
               .name = runs_[at_]->name(),
               .launch = number_,
               .launches = launches_,
               .stage = stage,
               .steps = steps,
               .elapsed_seconds = now - began_,
               .note = note});
  }

  const int64_t launches_;
  const ProgressSink& progress_;
  std::vector<std::unique_ptr<CommandRun>> runs_;
  const double began_ = now_seconds();
  size_t at_ = 0;
  int64_t number_ = 1;
  double told_ = 0;
  std::string stage_;
};

}  // namespace

std::string program_name(std::span<const std::string> command) {
  const auto file_name = [](const std::string& word) { return fs::path(word).filename().string(); };
  const auto is_script = [](const std::string& word) {
    return std::ranges::any_of(kScriptEndings, [&](const char* ending) { return word.ends_with(ending); });
  };
  const std::string program = file_name(command.front());
  if (const auto script = std::ranges::find_if(command, is_script); script != command.end()) return file_name(*script);
  const auto module = std::ranges::find(command, "-m");
  const bool is_module = program.starts_with("python") && module != command.end() && module + 1 != command.end();
  return is_module ? *(module + 1) : program;
}

std::vector<CellRun> exec_commands(std::span<const ExecOptions> commands, const RunnerSettings& settings,
                                   const ProgressSink& progress, std::optional<uint64_t> pair_seed) {
  for (const ExecOptions& each : commands) {
    program_file({.argv = each.command, .environment = settings.environment});
    if (!each.step_regex.empty()) LineMatcher matcher(each.step_regex);
  }
  return ExecRun(commands, settings, progress).run(pair_seed);
}

}  // namespace tbd
