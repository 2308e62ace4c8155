// While a launch runs, the process tree and the machine are sampled at the end of a step about twice a second. What
// they used between two samples is shared out among the steps between them, by their times.
#include "runner/exec/exec.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/environment.h"
#include "measure/host_sampler.h"
#include "measure/host_use.h"
#include "runner/launch_schedule.h"
#include "runner/plan.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kBlockNs = 500'000'000;  // between two samples, at least
constexpr double kPause = 0.05;            // seconds between two looks at a program
constexpr int64_t kMostSteps = 200'000;    // of a launch: more tell no more
constexpr double kUnsettled = 4;           // times what is wanted, where a series never settles
constexpr double kPauseOfQuestions = 100;  // pause over what a question to the stop rule takes
constexpr double kMostBunched = 0.1;       // of the steps, that are told at once with others
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

class LaunchOfCommand {
 public:
  LaunchOfCommand(const ExecOptions& options, const RunnerSettings& settings, RecordWriter& record,
                  const CommandLaunchSink& sink, CommandLaunch& launch)
      : options_(options), settings_(settings), record_(record), sink_(sink), launch_(launch) {}

  void run() {
    sink_("start", 0);
    try {
      command_.emplace(WatchOptions{.argv = options_.command,
                                    .environment = settings_.environment,
                                    .step_regex = options_.step_regex,
                                    .folder = folder_.path().string()});
    } catch (const Error& e) {
      launch_.info.outcome = {.kind = OutcomeKind::failed, .reason = e.what()};
      return;
    }
    sampler_.emplace(command_->pid());
    cores_ = usable_cores(command_->pid());
    sink_("first step", 0);
    const Outcome outcome = follow();
    if (!ended_) end_block();
    const ExitStatus status = command_->terminate(ended_ ? 0 : settings_.deadlines.grace);
    if (ended_) take(command_->take_steps(0));
    write_rows();
    launch_.facts = command_->facts();
    launch_.info.outcome = ended_ ? outcome_of_end(status) : outcome;
    report();
  }

 private:
  // Until enough is measured, the program ends or is given up.
  Outcome follow() {
    for (;;) {
      const bool at_next_step = steps_ == 0 || now_ns() - sampled_ns_ >= kBlockNs;
      if (!at_next_step) std::this_thread::sleep_for(std::chrono::duration<double>(kPause));
      take(command_->take_steps(at_next_step ? kPause : 0));
      if (settings_.interrupted())
        return {.kind = OutcomeKind::interrupted, .reason = cat("interrupted after ", steps_text(steps_))};
      if (is_enough()) return {};
      ended_ = command_->poll();
      if (ended_) return {};
      if (1e-9 * static_cast<double>(now_ns() - last_sign_ns_) > options_.patience_seconds) return given_up();
    }
  }

  void take(const std::vector<int64_t>& stamps) {
    for (const int64_t stamp : stamps) {
      StepRow row{.step = ++steps_, .completed_ns = stamp - began_ns_, .units = options_.units};
      if (last_ns_ > 0) times_.push_back(1e-9 * static_cast<double>(row.completed_ns - last_ns_));
      if (steps_ == 1) launch_.info.first_step_seconds = 1e-9 * static_cast<double>(row.completed_ns);
      last_ns_ = row.completed_ns;
      last_sign_ns_ = stamp;
      rows_.push_back(row);
    }
    if (stamps.empty()) return;
    sink_("steps", steps_);
    if (!ended_ && (!first_ || now_ns() - sampled_ns_ >= kBlockNs)) end_block();
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
    if (!first_) first_ = sample;
    last_ = std::move(sample);
    block_began_ns_ = last_ns_;
    write_rows();
  }

  void write_rows() {
    if (!rows_.empty()) record_.append(rows_);
    rows_.clear();
  }

  bool is_enough() {
    const EffortLevel& wants = options_.wants;
    const double now = now_seconds();
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
    const auto failed = [](const std::string& reason) {
      return Outcome{.kind = OutcomeKind::failed, .reason = reason};
    };
    if (steps_ == 0)
      return failed(cat("the program ", status.words(),
                        " before its first step: ", looked_for(launch_.facts, !options_.step_regex.empty())));
    if (!status.ok()) return failed(cat("the program ", status.words(), " after ", steps_text(steps_)));
    if (steps_ == 1) return failed("the program ended after one step: two tell how long a step takes");
    return {};
  }

  void report() {
    LaunchInfo& info = launch_.info;
    info.cores = cores_;
    if (peak_bytes_ > 0) info.peak_rss_bytes = peak_bytes_;
    launch_.bunched = static_cast<double>(command_->bunched()) > kMostBunched * static_cast<double>(steps_);
    if (!first_ || last_->time_ns == first_->time_ns) return;
    const HostDelta delta = difference(*first_, *last_);
    info.host = host_of_launch(delta, cores_);
    launch_.disturbed = disturbed(delta, host_use(delta, cores_)).level == Disturbance::repeat;
    if (delta.energy_uj) info.energy_joules = 1e-6 * static_cast<double>(*delta.energy_uj);
  }

  const ExecOptions& options_;
  const RunnerSettings& settings_;
  RecordWriter& record_;
  const CommandLaunchSink& sink_;
  CommandLaunch& launch_;
  TemporaryFolder folder_{"tbd-exec"};
  int64_t began_ns_ = now_ns();
  std::optional<WatchedCommand> command_;
  std::optional<HostSampler> sampler_;
  std::optional<ExitStatus> ended_;  // by itself
  double cores_ = 0;
  std::vector<StepRow> rows_;  // of the block at hand
  std::vector<double> times_;
  int64_t steps_ = 0, last_ns_ = 0, block_began_ns_ = 0;  // on the clock of completed_ns
  int64_t last_sign_ns_ = now_ns(), sampled_ns_ = 0;
  std::optional<HostSample> first_, last_;
  int64_t peak_bytes_ = 0;
  int64_t asked_steps_ = 0;  // the stop rule, and when and how long it took
  double asked_seconds_ = 0, asking_seconds_ = 0;
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
  if (launch.facts.device.starts_with("cuda")) {
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

  // Once more where other work disturbed it and there is time for it.
  void launch(int64_t number, const CommandLaunchSink& sink) {
    for (bool again = true; again;) {
      const double began = now_seconds();
      CommandLaunch launch = run_command_launch(options_, number, settings_, record_, sink);
      launch.info.environment_hash = environment_hash(run_.environment);
      outcome_ = launch.info.outcome;
      const double last = now_seconds() - began;
      measured_ += last;
      const Turn turn{.workload = 0, .pass = Pass::kClean, .number = number};
      again = options_.repeats && repeated_ < options_.wants.launches && launch.disturbed && !is_over() &&
              schedule_.may_repeat(turn, measured_, last);
      if (again) {
        set_aside(folder_, launch.info);
        ++repeated_;
      }
      learn(launch, run_);
      record_.update(run_);
      record_.end_launch(launch.info);
    }
  }
  CellRun finish() {
    record_.finish(run_, outcome_);
    return {.cell = run_.workload, .outcome = outcome_, .record = folder_};
  }

 private:
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

CommandLaunch run_command_launch(const ExecOptions& options, int64_t number, const RunnerSettings& settings,
                                 RecordWriter& record, const CommandLaunchSink& sink) {
  CommandLaunch launch;
  launch.info.number = number;
  launch.info.start = wall_label();
  record.begin_launch(launch.info);
  LaunchOfCommand(options, settings, record, sink, launch).run();
  if (launch.info.outcome.kind != OutcomeKind::ok) launch.info.outcome.repro = options.repro;
  return launch;
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
