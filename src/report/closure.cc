#include "report/closure.h"

#include <algorithm>
#include <cmath>

namespace tbd {
namespace {

using Values = std::vector<double>;
using Shown = std::function<std::string(double)>;

// The value of greatest size, with its sign.
double worst(const Values& values) {
  return *std::ranges::max_element(values, {}, [](double value) { return std::abs(value); });
}

double median_size(Values values) {
  for (double& value : values) value = std::abs(value);
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ClosureRow closure_row(std::string what, std::string brief, const Values& values, const Shown& shown, std::string limit,
                       bool open) {
  ClosureRow row{.what = std::move(what), .brief = std::move(brief), .limit = std::move(limit), .open = open};
  row.cells = values.size();
  row.worst = values.empty() ? "not measured" : shown(worst(values));
  row.median = values.empty() ? "–" : shown(median_size(values));
  return row;
}

template <class Of>
Values values_of(std::span<const ReportCell> cells, Of of) {
  Values values;
  for (const ReportCell& cell : cells)
    if (const std::optional<double> value = of(cell); value && std::isfinite(*value)) values.push_back(*value);
  return values;
}

bool any_beyond(const Values& values, double limit) {
  return std::ranges::any_of(values, [&](double value) { return std::abs(value) > limit; });
}

std::optional<double> time_rest(const ReportCell& cell) {
  const Profile* profile = cell.profile();
  if (!profile) return std::nullopt;
  int64_t rest = profile->window_ns;
  for (const LossPart& part : profile->loss) rest -= part.ns;
  return static_cast<double>(rest);
}

std::optional<double> ledger_rest(const ReportCell& cell) {
  const auto bytes = cell.memory() ? cell.memory()->difference() : std::nullopt;
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

// Of what the process holds where its blocks lie: on a device, or in the host's memory.
const MemoryClosure* closure_of(const ReportCell& cell, bool of_device) {
  const MemoryReport* memory = cell.memory();
  return memory && memory->closure.of_device == of_device ? &memory->closure : nullptr;
}

std::optional<double> unexplained_share(const ReportCell& cell, bool of_device) {
  const MemoryClosure* closure = closure_of(cell, of_device);
  if (!closure || !closure->unexplained || closure->total.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*closure->unexplained) / static_cast<double>(*closure->total);
}

// Of the ops of a step against what the model declares for its samples.
std::optional<double> flop_rest(const ReportCell& cell) {
  const RunInfo& run = cell.record->run;
  if (run.ops.empty() || !run.train_flops || run.workload.samples_per_step <= 0) return std::nullopt;
  double counted = 0;
  for (const OpRow& op : run.ops)
    counted += static_cast<double>(op.forward.flop_model) + static_cast<double>(op.backward.flop_model);
  const double declared = static_cast<double>(*run.train_flops) * static_cast<double>(run.workload.samples_per_step);
  return declared > 0 ? std::optional(counted / declared - 1) : std::nullopt;
}

std::optional<double> tracing_cost(const ReportCell& cell) {
  const Profile* profile = cell.profile();
  return profile && profile->overhead ? std::optional(profile->overhead->value - 1) : std::nullopt;
}

std::optional<double> pass_difference(const ReportCell& cell) {
  const Profile* profile = cell.profile();
  return profile && profile->agreement ? std::optional(*profile->agreement - 1) : std::nullopt;
}

std::string nanoseconds(double value) { return cat(significant(value), " ns"); }
std::string bytes(double value) { return cat(value < 0 ? "-" : "", format_bytes(std::llround(std::abs(value)))); }

// " (95 % 1.0 % … 1.6 %)" of the cell that tracing slowed most.
std::string interval_of_worst(std::span<const ReportCell> cells, double value) {
  for (const ReportCell& cell : cells)
    if (const auto cost = tracing_cost(cell); cost && *cost == value && cell.profile()->overhead->interval) {
      const Interval& interval = *cell.profile()->overhead->interval;
      return cat(" (95 %: ", format_percent(interval.low - 1), " … ", format_percent(interval.high - 1), ")");
    }
  return "";
}

bool any_closure(std::span<const ReportCell> cells, bool of_device) {
  return std::ranges::any_of(cells, [&](const ReportCell& cell) { return closure_of(cell, of_device); });
}

ClosureRow process_row(std::span<const ReportCell> cells, bool of_device) {
  const bool open = std::ranges::any_of(cells, [&](const ReportCell& cell) {
    const MemoryClosure* closure = closure_of(cell, of_device);
    return closure && closure->closed() == false;
  });
  const Values values = values_of(cells, [&](const ReportCell& cell) { return unexplained_share(cell, of_device); });
  return of_device ? closure_row("Device memory of the process that no part explains, of all",
                                 "device memory unexplained", values, format_percent, "1 % or 64 MiB", open)
                   : closure_row("Resident memory that no part explains, of all", "resident memory unexplained", values,
                                 format_percent, "1 % or 16 MiB", open);
}

}  // namespace

std::vector<ClosureRow> closure_rows(std::span<const ReportCell> cells) {
  const Values time = values_of(cells, time_rest), ledger = values_of(cells, ledger_rest),
               flops = values_of(cells, flop_rest), cost = values_of(cells, tracing_cost),
               passes = values_of(cells, pass_difference);
  std::vector<ClosureRow> rows = {
      closure_row("Traced window minus the sum of its parts", "time left over", time, nanoseconds, "0 ns",
                  any_beyond(time, 0)),
      closure_row("Allocator's live bytes minus the ledger's", "memory, allocator minus ledger", ledger, bytes,
                  "0 B where evidence is exact", any_beyond(ledger, 0)),
      process_row(cells, false),
      closure_row("FLOPs of a step's ops against the model's", "FLOPs, ops against model", flops, format_percent, "0 %",
                  any_beyond(flops, 1e-9)),
      closure_row("Time of a traced step over untraced ones beside it", "tracing costs", cost, format_percent, "2 %",
                  any_beyond(cost, 0.02)),
      closure_row("Untraced steps of the trace pass against the clean pass", "passes differ", passes, format_percent,
                  "5 %", any_beyond(passes, 0.05))};
  if (!cost.empty()) rows[4].worst += interval_of_worst(cells, worst(cost));
  if (!any_closure(cells, true)) return rows;
  const ClosureRow device = process_row(cells, true);
  if (any_closure(cells, false))
    rows.insert(rows.begin() + 3, device);
  else
    rows[2] = device;
  return rows;
}

Table closure_table(std::span<const ClosureRow> rows) {
  Table table{.title = "How well it closes"};
  table.columns = {{"what", "what"},          {"worst", "worst workload"},
                   {"median", "median size"}, {"cells", "workloads", Unit::count},
                   {"limit", "allowed"},      {"verdict", "verdict"}};
  for (const ClosureRow& r : rows)
    table.rows.push_back({r.what, r.worst, r.median, static_cast<int64_t>(r.cells), r.limit,
                          r.cells == 0 ? "not measured"
                          : r.open     ? "open"
                                       : "closed"});
  return table;
}

std::string closure_banner(std::span<const ClosureRow> rows) {
  std::vector<std::string> open, missing;
  size_t closed = 0;
  std::string list;
  for (const ClosureRow& r : rows) {
    if (r.cells == 0) {
      missing.push_back(r.brief);
      continue;
    }
    if (r.open)
      open.push_back(r.brief);
    else
      ++closed;
    list += cat("<div class=\"", r.open ? "open" : "closed", "\" title=\"",
                html_escaped(cat(r.what, "; allowed: ", r.limit)), "\"><dt>", html_escaped(r.brief), "</dt><dd>",
                html_escaped(r.worst), "</dd><dd class=\"sub\">",
                html_escaped(cat("worst of ", r.cells, r.cells == 1 ? " workload" : " workloads, median ",
                                 r.cells == 1 ? "" : r.median)),
                "</dd></div>\n");
  }
  std::string line = cat("How well it closes: ", closed, " of ", rows.size(), " closed");
  if (!open.empty()) line += cat(", ", open.size(), " open (", join(open, "; "), ")");
  if (!missing.empty()) line += cat(", ", missing.size(), " not measured");
  std::string html = cat("<details class=\"closure\">\n<summary>", html_escaped(line), "</summary>\n");
  if (!list.empty()) html += cat("<dl>\n", list, "</dl>\n");
  if (!missing.empty())
    html += cat("<p class=\"note\">Not measured, as there is no such pass in these records: ",
                html_escaped(join(missing, "; ")), ".</p>\n");
  return html + "</details>\n";
}

}  // namespace tbd
