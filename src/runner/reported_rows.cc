#include "runner/reported_rows.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "record/steps.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kClocksApartNs = 1'000'000'000;  // of the worker's start as it knows it and as it is seen from here

std::string seconds(int64_t ns) { return format_seconds(1e-9 * static_cast<double>(ns)); }

bool can_be_kept(const StepRow& row) {
  int64_t dropped = 0;
  parse_steps(steps_header() + format_steps({&row, 1}), dropped);
  return dropped == 0;
}

using RowCount = std::optional<int64_t> StepRow::*;
constexpr RowCount kSums[] = {&StepRow::samples,      &StepRow::valid,         &StepRow::padded,
                              &StepRow::user_cpu_ns,  &StepRow::system_cpu_ns, &StepRow::minor_faults,
                              &StepRow::major_faults, &StepRow::rss_bytes,     &StepRow::runqueue_wait_ns,
                              &StepRow::foreign_ns,   &StepRow::rows};
constexpr RowCount kLongest[] = {&StepRow::input_wait_ns};
constexpr RowCount kLowest[] = {&StepRow::fma_flop_rate, &StepRow::read_byte_rate};

template <class Combine>
void combine_columns(std::span<const RowCount> columns, std::span<const StepRow> ranks, StepRow& row,
                     const Combine& two) {
  for (const RowCount column : columns)
    for (const StepRow& other : ranks.subspan(1))
      row.*column = row.*column && other.*column ? std::optional(two(*(row.*column), *(other.*column))) : std::nullopt;
}

}  // namespace

void ReportedRows::take(std::span<const StepRow> rows, int64_t age_ns) {
  for (const StepRow& row : rows) {
    require(row.step == last_.step + 1, "the worker reported step ", row.step, " after step ", last_.step,
            ": steps are numbered from 1 without gaps");
    require(row.completed_ns > last_.completed_ns, "the worker reported that step ", row.step, " ended at ",
            row.completed_ns, " ns, no later than what came before it, at ", last_.completed_ns, " ns");
    require(row.completed_ns <= age_ns + kClocksApartNs, "the worker reported that step ", row.step, " ended ",
            seconds(row.completed_ns), " after its start, which was ", seconds(age_ns), " ago");
    require(can_be_kept(row), "the worker reported a value of step ", row.step,
            " that is negative, not finite or above 2^53");
    last_ = row;
  }
}

StepRow row_of_world(std::span<const StepRow> ranks) {
  StepRow row = ranks.front();
  for (const StepRow& other : ranks.subspan(1)) row.units += other.units;
  combine_columns(kSums, ranks, row, [](int64_t a, int64_t b) { return a + b; });
  combine_columns(kLongest, ranks, row, [](int64_t a, int64_t b) { return std::max(a, b); });
  combine_columns(kLowest, ranks, row, [](int64_t a, int64_t b) { return std::min(a, b); });
  return row;
}

WorldRows::WorldRows(const fs::path& launch_folder, int64_t world) : ranks_(static_cast<size_t>(world)) {
  for (size_t rank = 0; world > 1 && rank < ranks_.size(); ++rank) {
    ranks_[rank].folder = launch_folder / cat(kRankFolder, rank);
    make_folder(ranks_[rank].folder);
    ranks_[rank].file = std::make_unique<StepsFile>(ranks_[rank].folder / "steps.csv");
  }
}

std::vector<fs::path> WorldRows::logs() const {
  std::vector<fs::path> logs;
  for (const Rank& rank : ranks_)
    if (!rank.folder.empty()) logs.push_back(rank.folder / "worker.log");
  return logs;
}

std::vector<StepRow> WorldRows::take(int64_t number, std::span<const StepRow> rows, int64_t age_ns) {
  Rank& rank = ranks_.at(static_cast<size_t>(number));
  try {
    rank.judge.take(rows, age_ns);
  } catch (const Error& e) {
    throw ranks_.size() == 1 ? e : e.within(cat("rank ", number, " of ", ranks_.size()));
  }
  if (ranks_.size() == 1) return {rows.begin(), rows.end()};
  if (!rows.empty()) rank.file->append(rows);
  rank.waiting.insert(rank.waiting.end(), rows.begin(), rows.end());
  const auto behind = std::ranges::min_element(ranks_, {}, [](const Rank& each) { return each.waiting.size(); });
  const size_t whole = behind->waiting.size();
  std::vector<StepRow> of_world;
  for (size_t i = 0; i < whole; ++i) {
    std::vector<StepRow> step;
    for (const Rank& each : ranks_) step.push_back(each.waiting[i]);
    of_world.push_back(row_of_world(step));
  }
  for (Rank& each : ranks_)
    each.waiting.erase(each.waiting.begin(), each.waiting.begin() + static_cast<ptrdiff_t>(whole));
  return of_world;
}

void WorldRows::close() {
  for (const Rank& rank : ranks_)
    if (rank.file) rank.file->close();
}

void WorldRows::describe(int64_t number, const LaunchInfo& launch) {
  const Rank& rank = ranks_.at(static_cast<size_t>(number));
  if (rank.folder.empty()) return;
  write_file_atomic(rank.folder / "launch.json",
                    to_json(launch).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tbd
