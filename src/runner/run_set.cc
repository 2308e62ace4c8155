#include "runner/run_set.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/json.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "measure/peaks/judge.h"
#include "runner/equivalence/check.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr double kCheckSeconds = 2;  // a check of the roofs, on a busy machine

void require_writable(const fs::path& out) {
  make_folder(out);
  if (::access(out.c_str(), W_OK | X_OK) != 0)
    fail(ErrorKind::io, "cannot write into ", out.string(), ": ", std::strerror(errno));
}

// "sgd" becomes "sgd fused" where the worker says how it applies updates.
void add_optimizer_path(MeasuredWorkload& workload, const protocol::HelloReply& hello) {
  const std::string kind = workload.optimizer.substr(0, workload.optimizer.find(' '));
  const auto path = hello.build.find("optimizer." + kind);
  if (path != hello.build.end()) workload.optimizer = cat(kind, " ", path->second);
}

std::string mode_of(const Workload& cell, const protocol::HelloReply& hello) {
  if (!cell.mode.empty() || hello.modes.empty()) return cell.mode;
  return hello.modes.front();
}

}  // namespace

RunSet::RunSet(const std::vector<Workload>& cells, const RunOptions& options, const RunnerSettings& settings,
               const ProgressSink& progress)
    : options_(options),
      settings_(settings),
      progress_(progress),
      launches_(options.launches.value_or(level(options.effort).launches)),
      limit_seconds_(options.limit_seconds.value_or(level(options.effort).limit_seconds)),
      workload_seconds_(options.limit_seconds ? static_cast<double>(launches_) * *options.limit_seconds
                                              : level(options.effort).workload_seconds),
      environment_(capture_environment(settings.environment)),
      began_(now_seconds()),
      times_(limit_seconds_) {
  if (cells.empty()) fail(ErrorKind::usage, "there is no cell to measure");
  make_entries(cells);
}

// Pass by pass, so that launches of one cell that are averaged lie among those of the others.
std::vector<RunSet::Turn> RunSet::turns() const {
  std::vector<Turn> turns;
  for (const std::string& pass : options_.passes) {
    std::map<size_t, int64_t> number;
    for (const size_t cell : launch_order(entries_.size(), pass == "clean" ? launches_ : 1))
      turns.push_back({cell, pass, ++number[cell]});
  }
  return turns;
}

int64_t RunSet::Entry::done() const {
  int64_t all = 0;
  for (const auto& [pass, numbers] : launches) all += static_cast<int64_t>(numbers.size());
  return all;
}

int64_t RunSet::launches_of_cell() const {
  const auto others =
      static_cast<int64_t>(std::ranges::count_if(options_.passes, [](auto& p) { return p != "clean"; }));
  return others + (others < static_cast<int64_t>(options_.passes.size()) ? launches_ : 0);
}

bool RunSet::to_do(const Turn& turn) const {
  const Entry& entry = entries_[turn.cell];
  const auto done = entry.launches.find(turn.pass);
  return !entry.kept && !entry.over && (done == entry.launches.end() || !done->second.contains(turn.number));
}

std::vector<CellRun> RunSet::run() {
  require_writable(options_.out);
  for (Entry& entry : entries_)
    if (entry.searched) find_batch(entry);
  std::erase_if(entries_, [](const Entry& entry) { return entry.folder.empty(); });
  for (Entry& entry : entries_)
    if (options_.resume) go_on(entry);
  turns_ = turns();
  for (turn_ = 0; turn_ < turns_.size() && !settings_.interrupted(); ++turn_)
    if (to_do(turns_[turn_]) && in_time(turns_[turn_])) launch(turns_[turn_]);
  for (Entry& entry : entries_)
    if (!entry.kept && !entry.over) close(entry);
  add_drift();
  std::vector<CellRun> runs;
  for (const Entry& entry : entries_)
    if (entry.record || entry.kept)
      runs.push_back({.cell = entry.prepared.cell, .outcome = entry.outcome, .record = entry.folder});
  return runs;
}

// A cell that lacks launches, because of an interrupt or of the time budget.
void RunSet::close(Entry& entry) {
  const std::string& repro = entry.prepared.run.workload.repro;
  if (settings_.interrupted()) {
    if (!entry.record) return;
    entry.outcome = {.kind = OutcomeKind::interrupted,
                     .reason = cat("interrupted after ", entry.done(), " of ", launches_of_cell(), " launches"),
                     .repro = repro};
  } else if (entry.begun.state == Begun::State::replaced && !entry.record) {
    entry.kept = true;  // no time to replace it
    entry.outcome = entry.begun.run.outcome;
    return;
  } else if (entry.done() == 0) {
    if (!entry.record) begin(entry);
    entry.outcome = {
        .kind = OutcomeKind::skipped,
        .reason = cat("the time budget of ", format_seconds(options_.budget_seconds.value_or(0)), " ended before it"),
        .repro = repro};
  }
  entry.over = !settings_.interrupted();
  finish(entry);
}

void RunSet::launch(const Turn& turn) {
  const size_t index = turn.cell;
  Entry& entry = entries_[index];
  if (!entry.record) begin(entry);
  if (entry.prepared.refused) {
    entry.outcome = *entry.prepared.refused;
    entry.over = true;
    finish(entry);
    return tell(index, "done", {}, 0);
  }
  if (!entry.launched) measure_peaks_of(entry);
  if (settings_.interrupted()) return;
  entry.launched = true;
  try {
    LaunchResult result = try_launch(turn);
    while (may_repeat(turn, result)) {
      set_aside(entry, result);
      result = try_launch(turn);
    }
    keep(entry, result);
  } catch (const Error& e) {  // the record cannot be written
    entry.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = entry.prepared.run.workload.repro};
    entry.over = true;
  }
  times_.add(entry.prepared.cell, turn.pass, now_seconds() - launch_began_);
  if (entry.over) finish(entry);
  tell(index, "done", {}, 0);
}

LaunchResult RunSet::try_launch(const Turn& turn) {
  const size_t index = turn.cell;
  Entry& entry = entries_[index];
  const LaunchOptions options{.pass = turn.pass,
                              .effort = options_.effort,
                              .limit_seconds = limit_seconds_,
                              .measure_gemm = options_.peaks && entry.done() == 0,
                              .environment_hash = maybe<std::string>(environment_, "hash").value_or("")};
  launch_began_ = now_seconds();
  LaunchResult result = run_launch(entry.prepared, turn.number, options, settings_, *entry.record,
                                   [&](const std::string& stage, std::span<const double> times, double elapsed) {
                                     tell(index, stage, times, elapsed);
                                   });
  if (turn.pass == "clean") entry.measured_seconds += now_seconds() - launch_began_;
  return result;
}

// A launch that the kernel's evidence calls disturbed is measured again, whatever its figure, while the workload's time
// lasts: what it has used, this launch once more, and those that are still to come.
bool RunSet::may_repeat(const Turn& turn, const LaunchResult& result) {
  if (turn.pass != "clean" || options_.effort == Effort::smoke) return false;
  if (!result.disturbed || result.info.outcome.kind != OutcomeKind::ok || settings_.interrupted()) return false;
  const double to_come = static_cast<double>(launches_ - turn.number + 1) * (now_seconds() - launch_began_);
  return entries_[turn.cell].measured_seconds + to_come <= workload_seconds_;
}

// Keeps a disturbed launch in the record, outside of the pass that is averaged.
void RunSet::set_aside(Entry& entry, LaunchResult& result) {
  const fs::path launches = entry.folder / "launches", from = launches / result.info.folder_name();
  result.info.pass = "disturbed";
  result.info.number = 1;
  while (fs::exists(launches / result.info.folder_name())) ++result.info.number;
  fs::rename(from, launches / result.info.folder_name());
  entry.record->end_launch(result.info);
}

// What the launch said of the cell.
void RunSet::learn(Entry& entry, const LaunchResult& result) {
  PreparedCell& prepared = entry.prepared;
  RunInfo& run = prepared.run;
  if (result.hello) {
    run.workload.framework_version = result.hello->framework_version;
    run.workload.mode = mode_of(entry.prepared.cell, *result.hello);
    run.environment["framework"] = result.hello->build;
    add_optimizer_path(run.workload, *result.hello);
    if (prepared.worker) store_capabilities(*prepared.worker, *result.hello, settings_.cache);
  }
  if (prepared.worker) run.environment["framework"]["library_sha256"] = prepared.worker->library_sha256;
  if (!result.lowering.is_null()) run.environment["lowering"] = result.lowering;
  if (result.worker.contains("process")) run.environment["process"] = result.worker["process"];
  if (result.worker.contains("data")) {
    run.workload.data_hash = maybe<std::string>(result.worker["data"], "hash");
    const auto mark = [&](const char* flag, bool holds) {
      if (holds && std::ranges::find(run.flags, flag) == run.flags.end()) run.flags.push_back(flag);
    };
    mark("bad-files", result.worker["data"].value("bad_file_count", 0) > 0);
    mark("fitted-files", result.worker["data"].contains("notes"));
  }
  if (result.gemm_rate) entry.gemm_rate = result.gemm_rate;
}

// What is known of the cell reaches the disk before the launch counts: a run that goes on need not ask again.
void RunSet::keep(Entry& entry, const LaunchResult& result) {
  learn(entry, result);
  entry.prepared.run.peaks = peaks_of(entry);
  entry.record->update(entry.prepared.run);
  entry.record->end_launch(result.info);
  settle(entry, result.info);
}

void RunSet::settle(Entry& entry, const LaunchInfo& info) {
  entry.launches[info.pass].insert(info.number);
  const OutcomeKind kind = info.outcome.kind;
  const bool goes_on = kind == OutcomeKind::ok || kind == OutcomeKind::unsteady;  // of an earlier program
  const bool not_here = kind == OutcomeKind::unsupported || kind == OutcomeKind::unavailable;
  // A pass that the framework does not offer leaves what the others measured; one that went well does not mend them.
  if (entry.done() == 1 || !(goes_on || not_here)) entry.outcome = info.outcome;
  entry.over = (!goes_on && !(not_here && entry.done() > 1)) || entry.done() >= launches_of_cell();
}

void RunSet::finish(Entry& entry) {
  entry.prepared.run.peaks = peaks_of(entry);
  entry.prepared.run.verified = verified(entry.prepared.cell, settings_);
  try {
    entry.record->finish(entry.prepared.run, entry.outcome);
    if (options_.resume && entry.outcome.kind != OutcomeKind::interrupted) remove_aside(entry.folder);
  } catch (const Error& e) {  // a full disk: what was written before stays readable
    if (entry.outcome.kind == OutcomeKind::ok)
      entry.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = entry.prepared.run.workload.repro};
  }
}

void RunSet::measure_peaks_of(const Entry& entry) {
  const ThreadPlan& plan = entry.prepared.threads;
  if (!options_.peaks || entry.prepared.cell.device != "cpu" || before_.contains(plan.threads)) return;
  tell(static_cast<size_t>(&entry - entries_.data()), "peaks", {}, 0);
  const bool publish = options_.effort == Effort::publish;
  PeakOptions peaks = publish ? PeakOptions{} : quick_peak_options();
  const auto used = std::min(plan.cores.size(), static_cast<size_t>(plan.threads));
  peaks.cores.assign(plan.cores.begin(), plan.cores.begin() + static_cast<ptrdiff_t>(used));
  const Json identity = peaks_identity(environment_["cpu"], peaks, settings_.tool);
  const double began = now_seconds();
  peaks.cancelled = settings_.interrupted;
  const std::optional<StartPeaks> found =
      kept_or_measured(publish ? fs::path() : settings_.kept_peaks(), identity, peaks);
  if (!found) return;
  before_.emplace(plan.threads, *found);
  const double seconds = now_seconds() - began;
  peaks_seconds_ += publish || (found->check && found->check->holds) ? seconds : std::min(seconds, kCheckSeconds);
}

// The roofs again after the last launch: at effort publish as before, else a short sample of them.
void RunSet::measure_drift_of(const Entry& entry) {
  const int64_t threads = entry.prepared.threads.threads;
  const auto before = before_.find(threads);
  if (before == before_.end() || after_.contains(threads)) return;
  tell(static_cast<size_t>(&entry - entries_.data()), "peaks", {}, 0);
  PeakOptions peaks = check_options(before->second.peaks);
  if (options_.effort == Effort::publish) peaks = {.cores = before->second.peaks.cores};
  peaks.cancelled = settings_.interrupted;
  if (const std::optional<Peaks> measured = measure_peaks(peaks)) after_.emplace(threads, *measured);
}

Json RunSet::peaks_of(const Entry& entry) const {
  const int64_t threads = entry.prepared.threads.threads;
  const auto before = before_.find(threads);
  if (entry.prepared.cell.device != "cpu") return Json::object();
  if (before == before_.end()) return entry.prepared.run.peaks;  // of an earlier run
  Peaks peaks = before->second.peaks;
  if (entry.gemm_rate) merge_gemm(peaks, entry.prepared.cell.precision, *entry.gemm_rate);
  const auto after = after_.find(threads);
  Json json = peaks_for_record(peaks, after == after_.end() ? std::nullopt : std::optional(after->second));
  if (before->second.check) json["kept"] = to_json(*before->second.check);
  return json;
}

// Records that are over get the drift.
void RunSet::add_drift() {
  if (settings_.interrupted()) return;
  for (const Entry& entry : entries_)
    if (entry.launched) measure_drift_of(entry);
  for (Entry& entry : entries_)
    if (entry.over && entry.launched) finish(entry);
}

}  // namespace tbd
