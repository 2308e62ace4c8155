// How a set begins: its cells made ready, batches that are to be found, records that an earlier run left.
#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "runner/run_set.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

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

void RunSet::make_entries(const std::vector<Workload>& cells) {
  for (const Workload& cell : cells) {
    WorkloadRun entry;
    const bool is_searched = cell.batch == kLargestThatFits;
    if (is_searched && !cell.memory_budget_bytes)
      fail(ErrorKind::usage, "the largest batch of ", cell.model, " needs a memory budget: set one with --memory");
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
  if (options_.resume)
    entry.begun = look_at(folder, entry.prepared, options_, schedule_.launches(), environment_);
  else if (fs::exists(folder / "run.json") || fs::exists(folder.string() + ".old"))
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
                 .launches = schedule_.launches_of_workload(),
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
  if (!begun.launches.empty()) {
    entry.prepared.run = begun.run;
    if (const auto gemm = maybe<Json>(begun.run.peaks, "gemm"))
      entry.gemm_rate = maybe<double>(*gemm, entry.prepared.cell.precision.text());
  }
  if (begun.launches.empty()) return;  // its first launch begins it
  entry.record = RecordWriter::reopen(entry.folder, entry.prepared.run);
  for (const LaunchInfo& launch : begun.launches) entry.settle(launch, schedule_.launches_of_workload());
  if (entry.over) finish(entry);
}

void RunSet::begin(WorkloadRun& entry) {
  RunInfo& run = entry.prepared.run;
  run.created = wall_label();
  run.environment = environment_;
  run.environment["threads"] = to_json(entry.prepared.threads);
  if (!entry.largest_batch.is_null()) run.environment["largest_batch"] = entry.largest_batch;
  if (entry.begun.state == Begun::State::replaced) move_aside(entry.folder);
  entry.record = entry.begun.state == Begun::State::partial ? RecordWriter::reopen(entry.folder, run)
                                                            : std::make_unique<RecordWriter>(entry.folder, run);
}

}  // namespace tbd
