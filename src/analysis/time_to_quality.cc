#include "analysis/time_to_quality.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "stats/intervals.h"

namespace tbd {
namespace {

// Training times of the attempts that reached their goal.
std::vector<double> times_of(const std::vector<const Attempt*>& attempts) {
  std::vector<double> seconds;
  for (const Attempt* each : attempts)
    if (const EvaluationRow* row = each->reached()) seconds.push_back(row->training_seconds);
  return seconds;
}

std::string note_of(size_t attempts, const std::vector<double>& times) {
  if (times.empty()) return "not reached";
  if (std::ranges::count(times, 0.0) > 0) return "reached before the first step";  // no geometric mean
  if (times.size() < attempts) return "a lower bound: some never reached it";
  return times.size() == 1 ? "one seed" : "";
}

std::vector<TableCell> goal_row(const std::vector<const Attempt*>& attempts) {
  const Attempt& first = *attempts.front();
  const std::vector<double> times = times_of(attempts);
  std::vector<TableCell> row = {first.network, first.setting, to_text(*first.goal),
                                cat(times.size(), " of ", attempts.size())};
  if (times.empty() || std::ranges::count(times, 0.0) > 0) {
    row.resize(row.size() + 3);
  } else {
    const AcrossLaunches all = across_launches(times);
    row.emplace_back(all.value);
    row.push_back(all.interval ? TableCell(all.interval->low) : TableCell());
    row.push_back(all.interval ? TableCell(all.interval->high) : TableCell());
  }
  row.emplace_back(note_of(attempts.size(), times));
  return row;
}

}  // namespace

Table attempts_table(const std::string& title, std::span<const Attempt> attempts) {
  Table table{.title = title,
              .columns = {{"network", "Network"},
                          {"setting", "Setting"},
                          {"seed", "Seed", Unit::count},
                          {"metric", "Metric"},
                          {"best", "Best"},
                          {"reached", "Goal reached"},
                          {"training_seconds", "Training time", Unit::seconds},
                          {"step", "Steps", Unit::count},
                          {"samples", "Samples", Unit::count},
                          {"joules", "Energy", Unit::joules}}};
  for (const Attempt& attempt : attempts) {
    const EvaluationRow* end = attempt.reached();
    std::optional<bool> reached;
    if (attempt.goal) reached = end != nullptr;
    if (!end && !attempt.rows.empty()) end = &attempt.rows.back();
    const std::optional<BestRow> best = best_row(attempt.rows, attempt.goal);
    std::vector<TableCell> row = {attempt.network,
                                  attempt.setting,
                                  static_cast<int64_t>(attempt.seed),
                                  best ? TableCell(best->metric) : TableCell(),
                                  best ? TableCell(best->value) : TableCell(),
                                  cell(reached)};
    if (end)
      row.insert(row.end(), {TableCell(end->training_seconds), TableCell(end->step),
                             TableCell(end->step * attempt.samples_per_step), cell(end->training_joules)});
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table time_to_quality_table(std::span<const Attempt> attempts) {
  Table table{.title = "Time to quality",
              .columns = {{"network", "Network"},
                          {"setting", "Setting"},
                          {"goal", "Goal"},
                          {"reached", "Reached by"},
                          {"training_seconds", "Training time", Unit::seconds},
                          {"low", "95 % from", Unit::seconds},
                          {"high", "to", Unit::seconds},
                          {"note", "Note"}},
              .notes = {"Geometric mean of the training time at the first evaluation that reached the goal; the "
                        "interval is for the mean of as many further seeds."}};
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Attempt*>> groups;
  for (const Attempt& attempt : attempts)
    if (attempt.goal) groups[{attempt.network, attempt.setting, to_text(*attempt.goal)}].push_back(&attempt);
  for (const auto& [key, members] : groups) table.rows.push_back(goal_row(members));
  return table;
}

}  // namespace tbd
