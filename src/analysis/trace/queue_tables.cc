#include "analysis/trace/queue_tables.h"

#include <algorithm>

#include "base/json.h"
#include "base/units.h"

namespace tbd {
namespace {

bool names_ranks(std::span<const QueueRow> rows) {
  return std::ranges::any_of(rows, [](const QueueRow& row) { return row.rank.has_value(); });
}

Table table_of(std::string title, std::span<const QueueRow> rows) {
  Table table{.title = std::move(title)};
  if (names_ranks(rows)) table.columns = {{"rank", "rank"}};
  return table;
}

std::vector<TableCell> begin_of(const QueueRow& row) {
  if (!row.rank) return {};
  return {int64_t{*row.rank}};
}

void append(std::vector<TableCell>& cells, std::vector<TableCell> more) {
  cells.insert(cells.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Table queue_table(std::span<const QueueRow> rows) {
  Table table = table_of("Queue of the device at launches", rows);
  for (Column& column : std::vector<Column>{{"launches", "launches", Unit::count},
                                            {"onto_empty", "nothing queued", Unit::fraction},
                                            {"median_depth", "median depth", Unit::count},
                                            {"p95_depth", "95 % of them up to", Unit::count},
                                            {"largest_depth", "deepest", Unit::count}})
    table.columns.push_back(std::move(column));
  for (const QueueRow& row : rows) {
    const int64_t launches = row.use.launches();
    if (launches == 0) continue;
    std::vector<TableCell> cells = begin_of(row);
    append(cells, {launches, fraction(row.use.onto_empty(), launches), row.use.depth_at(0.5), row.use.depth_at(0.95),
                   row.use.depth_at(1)});
    table.rows.push_back(std::move(cells));
  }
  table.notes = {"Depth: kernels and copies that were launched and had not begun when the next launch began."};
  return table;
}

Table gap_table(std::span<const QueueRow> rows) {
  const bool a_step = std::ranges::any_of(rows, [](const QueueRow& row) { return row.steps.has_value(); });
  Table table = table_of("Idle time of the device by what was queued", rows);
  for (Column& column : std::vector<Column>{{"when", "when the gap began"},
                                            {"gaps", a_step ? "gaps a step" : "gaps"},
                                            {"time_s", a_step ? "time a step" : "time", Unit::seconds},
                                            {"share", "share of the window", Unit::fraction}})
    table.columns.push_back(std::move(column));
  for (const QueueRow& row : rows) {
    const auto add = [&](const char* when, const GapTimes& gaps) {
      if (gaps.count == 0) return;
      std::vector<TableCell> cells = begin_of(row);
      const auto steps = static_cast<double>(std::max<int64_t>(1, row.steps.value_or(1)));
      append(cells, {when, a_step ? TableCell(static_cast<double>(gaps.count) / steps) : TableCell(gaps.count),
                     seconds_of(gaps.ns) / steps, fraction(gaps.ns, row.window_ns)});
      table.rows.push_back(std::move(cells));
    };
    add("nothing was queued", row.use.empty);
    add("of it launch-bound", row.use.launch_bound);
    add("work was queued", row.use.queued);
    add("no launch is known", row.use.unknown);
  }
  table.notes = {
      "Launch-bound: nothing was queued while the host was inside ops or launch calls, and the usual delay after "
      "these. A larger batch, fused ops or a graph of the device leave fewer launches to wait for."};
  return table;
}

Json to_json(const QueueUse& use) {
  return {{"launches", use.launches()},
          {"onto_empty", use.onto_empty()},
          {"median_depth", use.depth_at(0.5)},
          {"p95_depth", use.depth_at(0.95)},
          {"largest_depth", use.depth_at(1)},
          {"queued_gaps", use.queued.count},
          {"queued_ns", use.queued.ns},
          {"empty_gaps", use.empty.count},
          {"empty_ns", use.empty.ns},
          {"launch_bound_gaps", use.launch_bound.count},
          {"launch_bound_ns", use.launch_bound.ns},
          {"unknown_gaps", use.unknown.count},
          {"unknown_ns", use.unknown.ns}};
}

}  // namespace tbd
