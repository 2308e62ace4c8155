#include "analysis/trace/trace_tables.h"

#include <algorithm>

#include "analysis/trace/queue_tables.h"
#include "base/text.h"
#include "base/units.h"

namespace tbd {
namespace {

constexpr size_t kFewestKernels = 5, kMostKernels = 40;  // rows of the kernel table

std::optional<double> known_share(int64_t part, int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string stream_label(const StreamAnalysis& stream) {
  if (!stream.name.empty()) return stream.name;
  return stream.device < 0 ? cat("thread ", stream.stream) : cat("device ", stream.device, " stream ", stream.stream);
}

double mean_seconds(const KernelGroup& group) { return seconds_of(group.total_ns) / static_cast<double>(group.count); }

// Adds a row for each of the groups, longest first, until they cover 90 % of the time of all; a note counts the rest.
template <class Row>
void fill_groups(Table& table, std::span<const KernelGroup> groups, Row row) {
  int64_t all = 0, listed = 0;
  for (const KernelGroup& group : groups) all += group.total_ns;
  for (const KernelGroup& group : groups) {
    if (table.rows.size() >= kMostKernels || (table.rows.size() >= kFewestKernels && listed >= all - all / 10)) break;
    table.rows.push_back(row(group, all));
    listed += group.total_ns;
  }
  const size_t rest = groups.size() - table.rows.size();
  if (rest > 0)
    table.notes = {
        cat(rest, " more, with ", format_percent(known_share(all - listed, all).value_or(0)), " of the time.")};
}

// The causes that some of the rows have.
std::vector<size_t> causes_present(std::span<const CauseTimes> rows) {
  std::vector<size_t> out;
  for (size_t i = 0; i < kIdleCauses; ++i)
    if (std::ranges::any_of(rows, [&](const CauseTimes& row) { return row[i] != 0; })) out.push_back(i);
  return out;
}

void add_cause_columns(Table& table, std::span<const size_t> causes) {
  for (const size_t i : causes) {
    const auto cause = static_cast<IdleCause>(i);
    table.columns.push_back({cat(key(cause), "_s"), std::string(name(cause)), Unit::seconds});
  }
}

}  // namespace

Table overview_table(std::span<const RankAnalysis> ranks) {
  Table table{.title = "Time by class"};
  table.columns = {{"rank", "rank"},
                   {"window_s", "window", Unit::seconds},
                   {"busy_s", "busy", Unit::seconds},
                   {"busy_share", "share busy", Unit::fraction},
                   {"compute_s", "compute", Unit::seconds},
                   {"layout_s", "of it layout alone", Unit::seconds},
                   {"communication_s", "communication", Unit::seconds},
                   {"exposed_communication_s", "of it exposed", Unit::seconds},
                   {"overlap_share", "overlap of communication", Unit::fraction},
                   {"copy_s", "copy", Unit::seconds},
                   {"idle_s", "idle", Unit::seconds}};
  for (const RankAnalysis& r : ranks) {
    const uint8_t comm = bit(DeviceClass::comm);
    const int64_t communication = r.masks.busy(comm), overlap = r.masks.overlap(kComputeBits, comm);
    table.rows.push_back({int64_t{r.rank}, seconds_of(r.window.length()), seconds_of(r.masks.busy()),
                          cell(known_share(r.masks.busy(), r.window.length())), seconds_of(r.masks.busy(kComputeBits)),
                          seconds_of(r.masks.by_mask[bit(DeviceClass::layout)]), seconds_of(communication),
                          seconds_of(communication - overlap), cell(known_share(overlap, communication)),
                          seconds_of(r.masks.busy(bit(DeviceClass::copy))), seconds_of(r.masks.idle())});
  }
  table.notes = {
      "Busy and idle add to the window; classes may overlap. Exposed communication has no compute beside it."};
  return table;
}

Table idle_table(std::span<const RankAnalysis> ranks) {
  Table table{.title = "Idle time of the device by cause"};
  std::vector<CauseTimes> rows;
  for (const RankAnalysis& r : ranks) rows.push_back(r.causes);
  const std::vector<size_t> causes = causes_present(rows);
  table.columns = {{"rank", "rank"}, {"idle_s", "idle", Unit::seconds}};
  add_cause_columns(table, causes);
  table.columns.push_back({"delay_s", "usual delay of a start", Unit::seconds});
  for (const RankAnalysis& r : ranks) {
    std::vector<TableCell> row = {int64_t{r.rank}, seconds_of(r.masks.idle())};
    for (const size_t i : causes) row.emplace_back(seconds_of(r.causes[i]));
    row.push_back(cell(r.on_device ? std::optional(seconds_of(r.delay_ns)) : std::nullopt));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table stream_table(std::span<const RankAnalysis> ranks) {
  Table table{.title = "Streams"};
  std::vector<CauseTimes> rows;
  for (const RankAnalysis& r : ranks)
    for (const StreamAnalysis& stream : r.streams) rows.push_back(stream.causes);
  const std::vector<size_t> causes = causes_present(rows);
  table.columns = {{"rank", "rank"},
                   {"stream", "stream"},
                   {"activities", "activities", Unit::count},
                   {"busy_s", "busy", Unit::seconds},
                   {"idle_s", "idle", Unit::seconds}};
  add_cause_columns(table, causes);
  for (const RankAnalysis& r : ranks)
    for (const StreamAnalysis& stream : r.streams) {
      std::vector<TableCell> row = {int64_t{r.rank}, stream_label(stream), stream.activities,
                                    seconds_of(stream.busy_ns), seconds_of(stream.idle_ns)};
      for (const size_t i : causes) row.emplace_back(seconds_of(stream.causes[i]));
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table kernel_table(const RankAnalysis& analysis) {
  Table table{.title = cat(analysis.on_device ? "Kernels and copies" : "Ops", " of rank ", analysis.rank)};
  table.columns = {{"name", "name", Unit::none, short_kernel_name},
                   {"detail", analysis.on_device ? "grid and block" : "shapes"},
                   {"class", "class"},
                   {"count", "count", Unit::count},
                   {"total_s", "total", Unit::seconds},
                   {"mean_s", "mean", Unit::seconds},
                   {"p95_s", "95 % of them below", Unit::seconds},
                   {"share", "share of all", Unit::fraction},
                   {"bytes", "bytes", Unit::bytes},
                   {"launch_bound", "gaps longer than it"}};
  fill_groups(table, analysis.kernels, [](const KernelGroup& group, int64_t all) -> std::vector<TableCell> {
    return {group.name,
            group.detail,
            std::string(name(group.cls)),
            group.count,
            seconds_of(group.total_ns),
            mean_seconds(group),
            seconds_of(group.p95_ns),
            cell(known_share(group.total_ns, all)),
            cell(group.bytes ? std::optional(group.bytes) : std::nullopt),
            group.launch_bound};
  });
  return table;
}

Table dispatch_table(const RankAnalysis& analysis) {
  Table table{.title = cat("Inside ops of rank ", analysis.rank, ", outside what computes")};
  table.columns = {{"name", "name", Unit::none, short_kernel_name},
                   {"count", "count", Unit::count},
                   {"total_s", "total", Unit::seconds},
                   {"mean_s", "mean", Unit::seconds},
                   {"share", "share of all", Unit::fraction}};
  fill_groups(table, analysis.dispatch, [](const KernelGroup& group, int64_t all) -> std::vector<TableCell> {
    return {group.name, group.count, seconds_of(group.total_ns), mean_seconds(group),
            cell(known_share(group.total_ns, all))};
  });
  table.notes.push_back(
      "What ops that call others or arrange memory do themselves: idle time of cause dispatch, where "
      "no other thread computes.");
  return table;
}

Table path_table(std::span<const RankAnalysis> ranks) {
  Table table{.title = "Critical path"};
  table.columns = {
      {"rank", "rank"}, {"on", "on the path"}, {"time_s", "time", Unit::seconds}, {"share", "share", Unit::fraction}};
  for (const RankAnalysis& r : ranks) {
    const int64_t all = r.path.total();
    const auto add = [&](std::string_view what, int64_t ns) {
      if (ns != 0)
        table.rows.push_back({int64_t{r.rank}, std::string(what), seconds_of(ns), cell(known_share(ns, all))});
    };
    for (size_t i = 0; i < kDeviceClasses; ++i) add(name(static_cast<DeviceClass>(i)), r.path.device[i]);
    for (size_t i = 0; i < kIdleCauses; ++i) add(name(static_cast<IdleCause>(i)), r.path.host[i]);
  }
  table.notes = {"Of all steps, or of the window where the trace has no steps; adds to their duration."};
  return table;
}

Table step_table(std::span<const RankAnalysis> ranks) {
  Table table{.title = "Steps"};
  table.columns = {{"rank", "rank"},
                   {"steps", "steps", Unit::count},
                   {"mean_s", "mean", Unit::seconds},
                   {"shortest_s", "shortest", Unit::seconds},
                   {"longest_s", "longest", Unit::seconds}};
  for (const RankAnalysis& r : ranks) {
    if (r.steps.empty()) continue;
    int64_t sum = 0;
    for (const StepAnalysis& step : r.steps) sum += step.duration_ns;
    const auto [shortest, longest] = std::ranges::minmax(r.steps, {}, &StepAnalysis::duration_ns);
    const auto count = static_cast<int64_t>(r.steps.size());
    table.rows.push_back({int64_t{r.rank}, count, seconds_of(sum) / static_cast<double>(count),
                          seconds_of(shortest.duration_ns), seconds_of(longest.duration_ns)});
  }
  return table;
}

Table fault_table(const Trace& trace, std::span<const RankAnalysis> ranks) {
  Table table{.title = "Lost or inconsistent"};
  table.columns = {{"what", "what"}, {"count", "count", Unit::count}, {"first", "first"}};
  for (const Fault& fault : trace.faults()) table.rows.push_back({fault.what, fault.count, fault.first});
  const auto add = [&](std::string_view what, const RankAnalysis& r, int64_t count) {
    if (count > 0) table.rows.push_back({std::string(what), count, cat("rank ", r.rank)});
  };
  for (const RankAnalysis& r : ranks) {
    add("kernels and copies without their launch", r, r.launches.activities_without_call);
    add("launches without their kernel or copy", r, r.launches.calls_without_activity);
    add("correlation ids used by more than one call", r, r.launches.clashing_calls);
    add("kernels that begin before their launch", r, r.launches.before_their_call);
    add("events 73 years or more from the trace's base, not used", r, r.beyond);
    if (r.clock_jumps > 0)
      table.rows.push_back({"gaps of more than an hour: a clock was set, or traces were joined", r.clock_jumps,
                            cat("rank ", r.rank, ": ", format_seconds(seconds_of(r.first_jump.length())), " before '",
                                r.jump_before, "'")});
  }
  return table;
}

std::vector<Table> trace_tables(std::span<const RankAnalysis> ranks) {
  std::vector<Table> tables = {overview_table(ranks), idle_table(ranks)};
  std::vector<QueueRow> queues;
  for (const RankAnalysis& r : ranks)
    if (r.queue) queues.push_back({r.rank, *r.queue, r.window.length()});
  for (Table& table : std::vector<Table>{gap_table(queues), queue_table(queues)})
    if (!table.rows.empty()) tables.push_back(std::move(table));
  tables.push_back(stream_table(ranks));
  tables.push_back(path_table(ranks));
  if (Table steps = step_table(ranks); !steps.rows.empty()) tables.push_back(std::move(steps));
  std::vector<RankCollectives> collectives;
  for (const RankAnalysis& r : ranks) collectives.push_back({r.rank, r.collectives});
  if (Table table = collective_table(collectives); !table.rows.empty() || !table.notes.empty())
    tables.push_back(std::move(table));
  for (const RankAnalysis& r : ranks) {
    tables.push_back(kernel_table(r));
    if (!r.dispatch.empty()) tables.push_back(dispatch_table(r));
  }
  return tables;
}

}  // namespace tbd
