#include "runner/run_set.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/files.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "measure/peaks/judge.h"
#include "runner/equivalence/check.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

double now_seconds() { return 1e-9 * static_cast<double>(now_ns()); }

void require_writable(const fs::path& out) {
  make_folder(out);
  if (::access(out.c_str(), W_OK | X_OK) != 0)
    fail(ErrorKind::io, "cannot write into ", out.string(), ": ", std::strerror(errno));
}

double sum(std::span<const double> x) {
  double total = 0;
  for (const double each : x) total += each;
  return total;
}

// "sgd" becomes "sgd fused" where the worker says how it applies updates.
void add_optimizer_path(Workload& workload, const protocol::HelloReply& hello) {
  const std::string kind = workload.optimizer.substr(0, workload.optimizer.find(' '));
  const auto path = hello.build.find("optimizer." + kind);
  if (path != hello.build.end()) workload.optimizer = cat(kind, " ", path->second);
}

std::string mode_of(const Cell& cell, const protocol::HelloReply& hello) {
  if (!cell.mode.empty() || hello.modes.empty()) return cell.mode;
  return hello.modes.front();
}

}  // namespace

RunSet::RunSet(const std::vector<Cell>& cells, const RunOptions& options, const RunnerSettings& settings,
               const ProgressSink& progress)
    : options_(options),
      settings_(settings),
      progress_(progress),
      launches_(options.launches.value_or(level(options.effort).launches)),
      limit_seconds_(options.limit_seconds.value_or(level(options.effort).limit_seconds)),
      began_(now_seconds()) {
  if (cells.empty()) fail(ErrorKind::usage, "there is no cell to measure");
  make_entries(cells);
}

void RunSet::make_entries(const std::vector<Cell>& cells) {
  std::set<std::string> names;
  for (const Cell& cell : cells) {
    Entry entry{.prepared = prepare(cell, options_.effort, settings_)};
    std::string name = cell_name(entry.prepared.cell);
    for (int twin = 2; !names.insert(name).second; ++twin) name = cat(cell_name(entry.prepared.cell), "-", twin);
    entry.folder = options_.out / name;
    if (fs::exists(entry.folder / "run.json"))
      fail(ErrorKind::usage, entry.folder.string(), " holds a record already: choose another --out");
    entries_.push_back(std::move(entry));
  }
}

// Pass by pass, so that launches of one cell that are averaged lie among those of the others.
std::vector<RunSet::Turn> RunSet::turns() const {
  std::vector<Turn> turns;
  for (const std::string& pass : options_.passes)
    for (const size_t cell : launch_order(entries_.size(), pass == "clean" ? launches_ : 1))
      turns.push_back({cell, pass});
  return turns;
}

int64_t RunSet::Entry::done() const {
  int64_t all = 0;
  for (const auto& [pass, count] : launches) all += count;
  return all;
}

int64_t RunSet::launches_of_cell() const {
  const auto others =
      static_cast<int64_t>(std::ranges::count_if(options_.passes, [](auto& p) { return p != "clean"; }));
  return others + (others < static_cast<int64_t>(options_.passes.size()) ? launches_ : 0);
}

std::vector<CellRun> RunSet::run() {
  require_writable(options_.out);
  environment_ = capture_environment(settings_.environment);
  for (const Turn& turn : turns()) {
    if (settings_.interrupted()) break;
    if (!entries_[turn.cell].over) launch(turn);
  }
  add_drift();
  std::vector<CellRun> runs;
  for (Entry& entry : entries_) {
    if (!entry.record) continue;
    if (!entry.over) {
      entry.outcome = {.kind = OutcomeKind::interrupted,
                       .reason = cat("interrupted after ", entry.done(), " of ", launches_of_cell(), " launches"),
                       .repro = entry.prepared.run.workload.repro};
      finish(entry);
    }
    runs.push_back({.cell = entry.prepared.cell, .outcome = entry.outcome, .record = entry.folder});
  }
  return runs;
}

void RunSet::begin(Entry& entry) {
  RunInfo& run = entry.prepared.run;
  run.created = wall_label();
  run.environment = environment_;
  run.environment["threads"] = to_json(entry.prepared.threads);
  entry.record = std::make_unique<RecordWriter>(entry.folder, run);
}

void RunSet::launch(const Turn& turn) {
  const size_t index = turn.cell;
  Entry& entry = entries_[index];
  const bool first = !entry.record;
  if (first) begin(entry);
  if (entry.prepared.refused) {
    entry.outcome = *entry.prepared.refused;
    entry.over = true;
    finish(entry);
    return tell(index, "done", {}, 0);
  }
  if (first) measure_peaks_of(entry, before_);
  launch_began_ = now_seconds();
  try {
    LaunchResult result = try_launch(turn);
    if (turn.pass == "clean" && result.disturbed && result.info.outcome.kind == OutcomeKind::ok &&
        options_.effort != Effort::smoke) {
      set_aside(entry, result);
      result = try_launch(turn);
      if (result.disturbed && result.info.outcome.kind == OutcomeKind::ok)
        result.info.outcome = {.kind = OutcomeKind::unsteady,
                               .reason = "other work on the machine disturbed the launch twice",
                               .repro = entry.prepared.run.workload.repro};
    }
    keep(entry, result);
  } catch (const Error& e) {  // the record cannot be written
    entry.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = entry.prepared.run.workload.repro};
    entry.over = true;
  }
  spent_ += now_seconds() - launch_began_;
  ++launches_done_;
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
  return run_launch(entry.prepared, entry.launches[turn.pass] + 1, options, settings_, *entry.record,
                    [&](const std::string& stage, std::span<const double> times, double elapsed) {
                      tell(index, stage, times, elapsed);
                    });
}

// Keeps a disturbed launch in the record, outside of the pass that is averaged.
void RunSet::set_aside(Entry& entry, LaunchResult& result) {
  const fs::path from = entry.folder / "launches" / result.info.folder_name();
  result.info.pass = "disturbed";
  result.info.outcome = {.kind = OutcomeKind::unsteady, .reason = "other work on the machine; repeated", .repro = ""};
  fs::rename(from, entry.folder / "launches" / result.info.folder_name());
  entry.record->end_launch(result.info);
}

void RunSet::keep(Entry& entry, const LaunchResult& result) {
  PreparedCell& prepared = entry.prepared;
  RunInfo& run = prepared.run;
  ++entry.launches[result.info.pass];
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
  const OutcomeKind kind = result.info.outcome.kind;
  const bool goes_on = kind == OutcomeKind::ok || kind == OutcomeKind::unsteady;
  const bool not_here = kind == OutcomeKind::unsupported || kind == OutcomeKind::unavailable;
  // A pass that the framework does not offer leaves what the others measured; one that went well does not mend them.
  if (entry.done() == 1 || !(goes_on || not_here)) entry.outcome = result.info.outcome;
  entry.over = (!goes_on && !(not_here && entry.done() > 1)) || entry.done() == launches_of_cell();
}

void RunSet::finish(Entry& entry) {
  entry.prepared.run.peaks = peaks_of(entry);
  entry.prepared.run.verified = verified(entry.prepared.cell, settings_);
  try {
    entry.record->finish(entry.prepared.run, entry.outcome);
  } catch (const Error& e) {  // a full disk: what was written before stays readable
    if (entry.outcome.kind == OutcomeKind::ok)
      entry.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = entry.prepared.run.workload.repro};
  }
}

void RunSet::measure_peaks_of(const Entry& entry, std::map<int64_t, Peaks>& into) {
  const ThreadPlan& plan = entry.prepared.threads;
  if (!options_.peaks || entry.prepared.cell.device != "cpu" || into.contains(plan.threads)) return;
  tell(static_cast<size_t>(&entry - entries_.data()), "peaks", {}, 0);
  PeakOptions peaks = options_.effort == Effort::publish ? PeakOptions{} : quick_peak_options();
  const auto used = std::min(plan.cores.size(), static_cast<size_t>(plan.threads));
  peaks.cores.assign(plan.cores.begin(), plan.cores.begin() + static_cast<ptrdiff_t>(used));
  into.emplace(plan.threads, measure_peaks(peaks));
}

Json RunSet::peaks_of(const Entry& entry) const {
  const int64_t threads = entry.prepared.threads.threads;
  const auto before = before_.find(threads);
  if (before == before_.end() || entry.prepared.cell.device != "cpu") return Json::object();
  Peaks peaks = before->second;
  if (entry.gemm_rate) merge_gemm(peaks, entry.prepared.cell.precision, *entry.gemm_rate);
  const auto after = after_.find(threads);
  return peaks_for_record(peaks, after == after_.end() ? std::nullopt : std::optional(after->second));
}

// The roofs again after the last launch; records that are over get the drift.
void RunSet::add_drift() {
  if (settings_.interrupted()) return;
  for (const Entry& entry : entries_)
    if (entry.done() > 0) measure_peaks_of(entry, after_);
  for (Entry& entry : entries_)
    if (entry.over && entry.done() > 0) finish(entry);
}

// Upper estimate of the time that a launch with these step times takes after its first step.
double RunSet::launch_seconds(std::span<const double> times) const {
  const EffortLevel& wants = level(options_.effort);
  const double mean = sum(times) / static_cast<double>(times.size());
  const double needed = std::max(1.5 * static_cast<double>(wants.stable_steps + 10) * mean, 1.5 * wants.stable_seconds);
  return std::min(limit_seconds_, needed);
}

void RunSet::tell(size_t index, const std::string& stage, std::span<const double> times, double elapsed) {
  if (!progress_) return;
  const double now = now_seconds();
  if (stage == last_stage_ && now - last_told_ < 1) return;
  last_stage_ = stage, last_told_ = now;
  const Entry& entry = entries_[index];
  Progress progress{
      .cell = index,
      .cells = entries_.size(),
      .name = entry.folder.filename().string(),
      .launch = std::clamp<int64_t>(stage == "done" ? entry.done() : entry.done() + 1, 1, launches_of_cell()),
      .launches = launches_of_cell(),
      .stage = stage,
      .steps = times.empty() ? 0 : static_cast<int64_t>(times.size()) + 1,
      .elapsed_seconds = now - began_};
  if (stage == "done") progress.note = entry.outcome.kind == OutcomeKind::ok ? "" : entry.outcome.reason;
  const int64_t left = static_cast<int64_t>(entries_.size()) * launches_of_cell() - launches_done_;
  if (stage == "steps" && !times.empty()) {
    const double here = launch_seconds(times);
    const double overhead = now - launch_began_ - elapsed;
    progress.remaining_seconds = std::max(0.0, here - elapsed) + static_cast<double>(left - 1) * (here + overhead);
  } else if (launches_done_ > 0) {
    progress.remaining_seconds = static_cast<double>(left) * spent_ / static_cast<double>(launches_done_);
  }
  progress_(progress);
}

}  // namespace tbd
