// A set begins with its cells made ready, batches that are to be found and records that an earlier run left; then its
// launches take turns, and each workload's record is written as it goes.
#include "runner/run_set.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/json.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "measure/proc_text.h"
#include "runner/equivalence/check.h"
#include "runner/team.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

void require_writable(const fs::path& out) {
  make_folder(out);
  if (::access(out.c_str(), W_OK | X_OK) != 0)
    fail(ErrorKind::io, "cannot write into ", out.string(), ": ", std::strerror(errno));
}

LaunchSchedule schedule_of(const RunOptions& options) {
  const int64_t launches = options.launches.value_or(level(options.effort).launches);
  return {options.passes, options.effort,
          launches,       time_limits(options.effort, launches, options.limit_seconds, options.budget_seconds),
          now_seconds(),  options.pair_seed};
}

// A further launch elsewhere would be averaged with those that began the record.
void require_same_places(const WorkloadRun& entry, const RunnerSettings& settings) {
  if (entry.prepared.cell.workers == 1 || entry.begun.state != Begun::State::partial) return;
  const auto words = [](const std::vector<std::string>& hosts) {
    return hosts.empty() ? std::string("one machine") : join(hosts, ", ");
  };
  const std::vector<std::string> here = hosts_of_ranks(settings, entry.prepared.cell.workers);
  for (const LaunchInfo& launch : entry.begun.launches) {
    const auto there = maybe<std::vector<std::string>>(launch.host, "hosts").value_or(std::vector<std::string>());
    if (launch.outcome.kind == OutcomeKind::ok && there != here)
      fail(ErrorKind::usage, entry.folder.string(), " was begun on ", words(there), ", further launches would be on ",
           words(here), ": name its places again, or choose another --out");
  }
}

// Why a search found no batch; nullopt where it found one.
std::optional<Outcome> no_answer(const LargestBatch& found, int64_t least) {
  if (found.fault)
    return Outcome{.kind = found.fault->kind,
                   .reason = cat("the search for the largest batch has no answer: at batch ", found.tried.back().batch,
                                 " ", found.fault->reason)};
  if (found.batch > 0) return std::nullopt;
  if (found.too_large != least)
    return Outcome{.kind = OutcomeKind::skipped, .reason = "no time was left to look for the largest batch"};
  return Outcome{.kind = OutcomeKind::oom,
                 .reason = cat("not even ", least == 1 ? "one sample fits" : cat(least, " samples fit"),
                               " into the memory budget of ", format_bytes(found.budget),
                               ", enforced: ", found.tried.back().seen)};
}

}  // namespace

RunSet::RunSet(const std::vector<Workload>& cells, const RunOptions& options, const RunnerSettings& settings,
               const ProgressSink& progress)
    : options_(options),
      settings_(settings),
      progress_(progress),
      environment_(capture_environment(settings.environment)),
      schedule_(schedule_of(options)),
      times_(schedule_.limits().launch),
      roofs_(options.peaks, options.effort, environment_["cpu"], settings) {
  if (cells.empty()) fail(ErrorKind::usage, "there is no workload to measure");
  make_entries(cells);
}

std::vector<CellRun> RunSet::run() {
  require_writable(options_.out);
  for (WorkloadRun& entry : entries_)
    if (entry.searched) find_batch(entry);
  std::erase_if(entries_, [](const WorkloadRun& entry) { return entry.folder.empty(); });
  for (WorkloadRun& entry : entries_)
    if (options_.resume) go_on(entry);
  turns_ = schedule_.turns(entries_.size());
  ask_at_ = schedule_.first_turns(turns_);
  for (turn_ = 0; !settings_.interrupted(); ++turn_) {
    if (turn_ == ask_at_) put_undecided_first();
    if (turn_ == turns_.size()) break;
    if (entries_[turns_[turn_].workload].to_do(turns_[turn_]) && in_time(turns_[turn_])) launch(turns_[turn_]);
  }
  for (WorkloadRun& entry : entries_)
    if (!entry.kept && !entry.over) close(entry);
  add_drift();
  std::vector<CellRun> runs;
  for (const WorkloadRun& entry : entries_)
    if (entry.record || entry.kept)
      runs.push_back({.cell = entry.prepared.cell, .outcome = entry.outcome, .record = entry.folder});
  return runs;
}

void RunSet::make_entries(const std::vector<Workload>& cells) {
  for (const Workload& cell : cells) {
    WorkloadRun entry;
    const bool is_searched = cell.batch == kLargestThatFits;
    if (is_searched && !cell.memory_budget_bytes)
      fail(ErrorKind::usage, "the largest batch of ", cell.model, " needs a memory budget: set one with --memory");
    entry.wanted = schedule_.planned();
    entry.prepared = prepare(cell, options_.effort, settings_);
    if (is_searched) {
      entry.searched = cell;
      entry.searched->batch = entry.prepared.cell.batch;
    } else {
      place(entry);
    }
    entries_.push_back(std::move(entry));
  }
}

// Its folder, and what lies there.
void RunSet::place(WorkloadRun& entry) {
  const auto taken = [&](const fs::path& folder) {
    return std::ranges::any_of(entries_, [&](const WorkloadRun& other) { return other.folder == folder; });
  };
  const std::string name = folder_name(entry.prepared.cell);
  fs::path folder = options_.out / name;
  for (int twin = 2; taken(folder); ++twin) folder = options_.out / cat(name, "-", twin);
  entry.folder = folder;
  if (options_.resume) {
    entry.begun = look_at(folder, entry.prepared, options_, schedule_.launches(), environment_);
    require_same_places(entry, settings_);
  } else if (fs::exists(folder / "run.json") || fs::exists(folder.string() + ".old"))
    fail(ErrorKind::usage, folder.string(), " already holds a record: choose another --out, or resume with --resume");
}

// A search that is interrupted leaves the cell out.
void RunSet::find_batch(WorkloadRun& entry) {
  Workload cell = *entry.searched;
  if (!entry.prepared.worker) return place(entry);  // its row says why
  if (settings_.interrupted()) return;
  const std::optional<LargestBatch> before = searched_before(entry);
  const LargestBatch found = before ? *before : search(entry);
  if (found.fault && found.fault->kind == OutcomeKind::interrupted) return;
  const int64_t least = cell.batch;
  cell.batch = std::max(least, found.batch);
  entry.prepared = prepare(cell, options_.effort, settings_);
  if (const auto none = no_answer(found, least); none && !entry.prepared.refused) entry.prepared.refused = none;
  if (entry.prepared.refused) entry.prepared.refused->repro = entry.prepared.run.workload.repro;
  entry.largest_batch = to_json(found);
  place(entry);
}

LargestBatch RunSet::search(const WorkloadRun& entry) {
  const auto index = static_cast<size_t>(&entry - entries_.data());
  BatchSearch search;
  if (options_.budget_seconds) search.seconds = std::min(search.seconds, *options_.budget_seconds / 2);
  return find_largest_batch(*entry.searched, search, settings_, [&](int64_t batch) {
    if (progress_)
      progress_({.cell = index,
                 .cells = entries_.size(),
                 .name = folder_name(entry.prepared.cell),
                 .launches = total(entry.wanted),
                 .stage = "load",
                 .elapsed_seconds = now_seconds() - schedule_.began(),
                 .note = cat("looking for the largest batch: ", batch)});
  });
}

// What a record of this set says of the same search.
std::optional<LargestBatch> RunSet::searched_before(const WorkloadRun& entry) const {
  if (!options_.resume || !fs::exists(options_.out)) return std::nullopt;
  for (const fs::directory_entry& each : fs::directory_iterator(options_.out)) {
    if (!fs::exists(each.path() / "run.json")) continue;
    RunInfo run = run_from_json(parse_json(read_file(each.path() / "run.json"), each.path().string()));
    if (!run.environment->contains("largest_batch")) continue;
    run.workload.batch = entry.prepared.run.workload.batch;
    if (!difference(run.workload, entry.prepared.run.workload, !entry.prepared.cell.mode.empty()).empty()) continue;
    const LargestBatch found = largest_batch_from(run.environment["largest_batch"]);
    const bool anew = found.fault && std::ranges::count(options_.again, found.fault->kind) > 0;
    if (!anew) return found;
  }
  return std::nullopt;
}

// Takes up what an earlier run left.
void RunSet::go_on(WorkloadRun& entry) {
  const Begun& begun = entry.begun;
  clear_remains(entry.folder, begun);
  if (begun.state == Begun::State::complete) {
    entry.kept = true;
    entry.outcome = begun.run.outcome;
  }
  if (begun.state != Begun::State::partial) return;
  if (begun.launches.empty()) return;  // its first launch begins it
  reopen(entry);
  if (entry.over) finish(entry);
}

// A record of an earlier run, for further launches.
void RunSet::reopen(WorkloadRun& entry) {
  const Begun& begun = entry.begun;
  entry.kept = false;
  entry.prepared.run = begun.run;
  if (const auto gemm = maybe<Json>(begun.run.peaks, "gemm"))
    entry.gemm_rate = maybe<double>(*gemm, entry.prepared.cell.precision.text());
  entry.record = RecordWriter::reopen(entry.folder, entry.prepared.run);
  for (const LaunchInfo& launch : begun.launches) entry.settle(launch);
}

// Puts further launches of what the records leave undecided before what is still to come. The records are read from the
// disk, so those that go on are ended first.
void RunSet::put_undecided_first() {
  if (!options_.undecided || schedule_.launches_in_round(round_ + 1) == 0 || !any_may_go_on()) return;
  for (WorkloadRun& entry : entries_)
    if (entry.record && !entry.over) finish(entry, /*last=*/false);
  const std::vector<UndecidedRecord> undecided = options_.undecided();
  std::vector<Turn> turns;
  while (!undecided.empty() && turns.empty() && schedule_.launches_in_round(round_ + 1) > 0) {
    ++round_;
    std::vector<LaunchSchedule::Further> further;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const auto of = std::ranges::find(undecided, entries_[i].folder, &UndecidedRecord::folder);
      if (of == undecided.end()) continue;
      if (const std::vector<Pass> passes = go_on_with(i, of->passes); !passes.empty()) further.push_back({i, passes});
    }
    turns = schedule_.further(further, round_);
  }
  turns_.insert(turns_.begin() + static_cast<std::ptrdiff_t>(turn_), turns.begin(), turns.end());
  ask_at_ = turns_.size();
}

bool RunSet::may_go_on(size_t i, const Pass& pass) const {
  const WorkloadRun& entry = entries_[i];
  return !entry.prepared.refused && entry.wanted.contains(pass) &&
         in_time({.workload = i, .pass = pass, .number = schedule_.launches()});
}

bool RunSet::any_may_go_on() const {
  for (size_t i = 0; i < entries_.size(); ++i)
    for (const auto& [pass, count] : entries_[i].wanted)
      if (may_go_on(i, pass)) return true;
  return false;
}

// Has the workload go on to the launches of the round; of which of the passes some are to come.
std::vector<Pass> RunSet::go_on_with(size_t i, const std::vector<Pass>& passes) {
  WorkloadRun& entry = entries_[i];
  if (entry.outcome.kind != OutcomeKind::ok || (entry.kept && !entry.begun.elsewhere.empty())) return {};
  LaunchCounts launches;
  std::vector<Pass> lacking;
  for (const Pass& pass : passes) {
    const LaunchCounts of_round = {{pass, schedule_.launches_in_round(round_, pass)}};
    if (!may_go_on(i, pass) || !entry.lacks(of_round)) continue;
    launches.insert(of_round.begin(), of_round.end());
    lacking.push_back(pass);
  }
  if (lacking.empty()) return {};
  if (entry.kept) reopen(entry);
  entry.go_on_to(launches);
  return lacking;
}

void RunSet::begin(WorkloadRun& entry) {
  RunInfo& run = entry.prepared.run;
  run.created = wall_label();
  run.environment = environment_;
  run.environment["threads"] = to_json(entry.prepared.threads);
  for (const std::vector<int>& cores : entry.prepared.rank_cores)
    run.environment["threads"]["cores_of_ranks"].push_back(cpu_list(cores));
  if (!entry.largest_batch.is_null()) run.environment["largest_batch"] = entry.largest_batch;
  if (options_.pair_seed) run.environment["pairs"] = {{"seed", *options_.pair_seed}};
  if (entry.begun.state == Begun::State::replaced) move_aside(entry.folder);
  entry.record = entry.begun.state == Begun::State::partial ? RecordWriter::reopen(entry.folder, run)
                                                            : std::make_unique<RecordWriter>(entry.folder, run);
}

// Whether the launch, and the roofs after the last one, are foreseen to end within the budget.
bool RunSet::in_time(const Turn& turn) const {
  const WorkloadRun& entry = entries_[turn.workload];
  if (entry.prepared.refused) return true;
  const double foreseen = times_.foreseen(entry.prepared.cell, turn.pass).value_or(schedule_.limits().launch);
  return schedule_.in_time(now_seconds(), foreseen + roofs_.seconds_after());
}

// A workload that lacks launches, because of an interrupt or of the time budget.
void RunSet::close(WorkloadRun& entry) {
  const std::string& repro = entry.prepared.run.workload.repro;
  const LaunchCounts planned = schedule_.planned();
  if (settings_.interrupted() && entry.lacks(planned)) {
    if (!entry.record) return;
    entry.outcome = {.kind = OutcomeKind::interrupted,
                     .reason = cat("interrupted after ", entry.done(planned), " of ", total(planned), " launches"),
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
  WorkloadRun& entry = entries_[turn.workload];
  if (!entry.record) begin(entry);
  if (entry.prepared.refused) {
    entry.outcome = *entry.prepared.refused;
    entry.over = true;
    finish(entry);
    return tell(entry, "done", {}, 0);
  }
  if (!entry.launched && roofs_.before_is_due(entry.prepared)) {
    tell(entry, "peaks", {}, 0);
    roofs_.measure_before(entry.prepared);
  }
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
  tell(entry, "done", {}, 0);
}

// What is compared or published shall not hang on one layout of the heap. Both sides of a pair have the same one.
std::optional<uint64_t> RunSet::layout_seed(const WorkloadRun& entry) const {
  if (options_.pair_seed) return options_.pair_seed;
  return options_.effort == Effort::publish ? std::optional(entry.prepared.cell.seed) : std::nullopt;
}

LaunchResult RunSet::try_launch(const Turn& turn) {
  WorkloadRun& entry = entries_[turn.workload];
  const LaunchOptions options{.pass = turn.pass,
                              .effort = options_.effort,
                              .limit_seconds = schedule_.limit_of(turn.pass),
                              .measure_gemm = options_.peaks && entry.done() == 0,
                              .environment_hash = maybe<std::string>(environment_, "hash").value_or(""),
                              .layout_seed = layout_seed(entry)};
  launch_began_ = now_seconds();
  LaunchResult result = run_launch(entry.prepared, turn.number, options, settings_, *entry.record,
                                   [&](const std::string& stage, std::span<const double> times, double elapsed) {
                                     tell(entry, stage, times, elapsed);
                                   });
  entry.measured_seconds[turn.pass] += now_seconds() - launch_began_;
  return result;
}

// A launch that the kernel's evidence calls disturbed is measured again, whatever its figure, while the workload's time
// lasts.
bool RunSet::may_repeat(const Turn& turn, const LaunchResult& result) const {
  if (!result.disturbed || result.info.outcome.kind != OutcomeKind::ok || settings_.interrupted()) return false;
  const double measured = entries_[turn.workload].measured_seconds.at(turn.pass);
  return schedule_.may_repeat(turn, measured, now_seconds() - launch_began_);
}

// Keeps a disturbed launch in the record, outside of the pass that is averaged.
void RunSet::set_aside(WorkloadRun& entry, LaunchResult& result) {
  const fs::path launches = entry.folder / "launches", from = launches / result.info.folder_name();
  result.info.pass = Pass("disturbed");
  result.info.number = 1;
  while (fs::exists(launches / result.info.folder_name())) ++result.info.number;
  fs::rename(from, launches / result.info.folder_name());
  entry.record->end_launch(result.info);
}

// What is known of the workload reaches the disk before the launch counts: a run that goes on need not ask again.
void RunSet::keep(WorkloadRun& entry, const LaunchResult& result) {
  entry.learn(result);
  if (result.hello && entry.prepared.worker)
    store_capabilities(*entry.prepared.worker, *result.hello, capability_cache(settings_));
  entry.prepared.run.peaks = roofs_.of(entry.prepared, entry.gemm_rate);
  entry.record->update(entry.prepared.run);
  entry.record->end_launch(result.info);
  entry.settle(result.info);
}

// Ends the record; unless it is the `last` time launches follow, and what it replaces stays aside.
void RunSet::finish(WorkloadRun& entry, bool last) {
  entry.prepared.run.peaks = roofs_.of(entry.prepared, entry.gemm_rate);
  entry.prepared.run.verified = verified(entry.prepared.cell, settings_);
  try {
    entry.record->finish(entry.prepared.run, entry.outcome);
    if (last && options_.resume && entry.outcome.kind != OutcomeKind::interrupted) remove_aside(entry.folder);
  } catch (const Error& e) {  // a full disk: what was written before stays readable
    if (entry.outcome.kind == OutcomeKind::ok)
      entry.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = entry.prepared.run.workload.repro};
  }
}

// Records that are over get the drift.
void RunSet::add_drift() {
  if (settings_.interrupted()) return;
  for (const WorkloadRun& entry : entries_)
    if (entry.launched && roofs_.after_is_due(entry.prepared)) {
      tell(entry, "peaks", {}, 0);
      roofs_.measure_after(entry.prepared);
    }
  for (WorkloadRun& entry : entries_)
    if (entry.over && entry.launched) finish(entry);
}

void RunSet::tell(const WorkloadRun& entry, const std::string& stage, std::span<const double> times, double elapsed) {
  if (!progress_) return;
  const double now = now_seconds();
  if (stage == last_stage_ && now - last_told_ < 1) return;
  last_stage_ = stage;
  last_told_ = now;
  Progress progress{
      .cell = static_cast<size_t>(&entry - entries_.data()),
      .cells = entries_.size(),
      .name = entry.folder.filename().string(),
      .launch = std::clamp<int64_t>(stage == "done" ? entry.done() : entry.done() + 1, 1, total(entry.wanted)),
      .launches = total(entry.wanted),
      .stage = stage,
      .steps = times.empty() ? 0 : static_cast<int64_t>(times.size()) + 1,
      .elapsed_seconds = now - schedule_.began()};
  if (stage == "done") progress.note = entry.outcome.kind == OutcomeKind::ok ? "" : entry.outcome.reason;
  progress.remaining_seconds = remaining(stage, times, elapsed);
  progress_(progress);
}

std::optional<double> RunSet::remaining(const std::string& stage, std::span<const double> times, double elapsed) const {
  const double now = now_seconds();
  LaunchSchedule::AtHand launch{.running = now - launch_began_};
  if (stage == "steps") {
    launch.step_seconds = times;
    launch.stepping = elapsed;
  }
  const bool begun = !launch.step_seconds.empty() || stage == "done";
  std::vector<std::optional<double>> to_come;
  for (size_t i = begun ? turn_ + 1 : turn_; i < turns_.size(); ++i) {
    const WorkloadRun& entry = entries_[turns_[i].workload];
    if (entry.to_do(turns_[i]) && !entry.prepared.refused)
      to_come.push_back(times_.foreseen(entry.prepared.cell, turns_[i].pass));
  }
  return schedule_.remaining(now, launch, to_come, times_.mean());
}

}  // namespace tbd
