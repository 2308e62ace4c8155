// Throughput with its interval; one chart a unit, one series an input mode: unlike is never ranked against unlike.
#include <algorithm>
#include <set>

#include "analysis/framework_groups.h"
#include "analysis/throughput.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {
namespace {

ChartSeries throughput_series(std::span<const ReportCell> cells, const std::string& unit, const InputMode& input_mode) {
  ChartSeries series{.name = input_mode.text(), .role = input_mode.text()};
  for (const ReportCell& cell : cells) {
    const MeasuredWorkload& w = cell.result.workload;
    if (w.unit != unit || w.input_mode != input_mode) continue;
    const Measured& x = cell.result["throughput"];
    series.labels.push_back(cell.label);
    series.y.push_back(x.value);
    series.low.push_back(x.low);
    series.high.push_back(x.high);
    series.text.push_back(x.value ? significant(*x.value, 4) : std::string(name(cell.result.judgement.outcome.kind)));
  }
  return series;
}

Table interval_table(std::span<const ReportCell> cells, const std::string& unit) {
  Table table;
  table.columns = {{"cell", "workload"},
                   {"throughput", unit + "/s", Unit::per_second},
                   {"low", "from", Unit::per_second},
                   {"high", "to", Unit::per_second},
                   {"launches", "launches", Unit::count},
                   {"steps", "steps after warming up", Unit::count},
                   {"n_eff", "independent steps", Unit::none},
                   {"lag1", "lag-1 correlation", Unit::none},
                   {"launch_cv", "spread of launches", Unit::fraction},
                   {"grade", "grade"},
                   {"outcome", "outcome"}};
  for (const ReportCell& cell : cells) {
    if (cell.result.workload.unit != unit) continue;
    const Measured& x = cell.result["throughput"];
    const CellThroughput throughput = cell_throughput(cell.run);
    double n_eff = 0;
    for (const Throughput& launch : throughput.launches) n_eff += launch.n_eff;
    const bool shown = x.value && !throughput.launches.empty();
    table.rows.push_back({cell.label, tbd::cell(x.value), tbd::cell(x.low), tbd::cell(x.high), cell.result.launches,
                          cell.result.steps, shown && n_eff > 0 ? TableCell(n_eff) : TableCell(),
                          shown ? TableCell(throughput.launches.front().lag1) : TableCell(),
                          shown ? tbd::cell(throughput.combined->launch_cv) : TableCell(),
                          cell.result.judgement.grade.empty() ? TableCell() : TableCell(cell.result.judgement.grade),
                          std::string(name(cell.result.judgement.outcome.kind))});
  }
  return table;
}

constexpr size_t kFewestNetworks = 3;  // for a chart over networks, whose units differ

std::string network_name(const MeasuredWorkload& w) {
  return cat(w.model, w.config == "canonical" ? "" : cat(" ", w.config), " ", w.precision, ", batch ", w.batch);
}

// What was compared and what is apart, where it has a rate: a chart that left out disturbed rows would hide most of a
// short run.
std::vector<const CellResult*> rows_with_rate(const FrameworkGroup& group) {
  std::vector<const CellResult*> rows = group.compared;
  for (const Apart& each : group.apart) rows.push_back(each.cell);
  std::erase_if(rows, [](const CellResult* row) { return !(*row)["throughput"].value; });
  return rows;
}

// Each framework's rate over the highest of its network, so that networks of different units share a chart.
std::optional<Chart> frameworks_chart(std::span<const ReportCell> cells) {
  const std::vector<std::vector<CellResult>> machines = by_machine(cells);
  if (machines.size() != 1) return std::nullopt;
  const std::vector<FrameworkGroup> groups = framework_groups(machines.front());
  std::set<std::string> units;
  for (const FrameworkGroup& group : groups)
    for (const CellResult* row : rows_with_rate(group)) units.insert(row->workload.unit);
  if (groups.size() < kFewestNetworks || units.size() < 2) return std::nullopt;
  Chart chart{.id = "frameworks-1",
              .title = "Each framework against the highest rate of its network",
              .y_title = "of the highest rate",
              .caption = "Longer is faster; disturbed rows are drawn too, and only ranked ones are compared below.",
              .metric = "throughput",
              .mark = Mark::groups,
              .from_zero = true};
  chart.table.columns = {
      {"network", "network"},          {"framework", "framework"},     {"share", "of the highest rate", Unit::fraction},
      {"low", "from", Unit::fraction}, {"high", "to", Unit::fraction}, {"grade", "grade"}};
  for (const FrameworkGroup& group : groups) {
    const std::vector<const CellResult*> rows = rows_with_rate(group);
    if (rows.empty()) continue;
    const auto rate = [](const CellResult* row) { return *(*row)["throughput"].value; };
    const double highest = rate(*std::ranges::max_element(rows, {}, rate));
    const std::string network = network_name(rows.front()->workload);
    if (!std::ranges::count(chart.order, network)) chart.order.push_back(network);
    for (const CellResult* row : rows) {
      auto series = std::ranges::find(chart.series, row->workload.framework, &ChartSeries::name);
      if (series == chart.series.end())
        series = chart.series.insert(series, ChartSeries{.name = row->workload.framework});
      const Measured& x = (*row)["throughput"];
      const auto share = [&](const std::optional<double>& end) {
        return end ? std::optional(*end / highest) : std::nullopt;
      };
      series->labels.push_back(network);
      series->y.push_back(share(x.value));
      series->low.push_back(share(x.low));
      series->high.push_back(share(x.high));
      chart.table.rows.push_back({network, row->workload.framework, tbd::cell(share(x.value)), tbd::cell(share(x.low)),
                                  tbd::cell(share(x.high)), row->judgement.grade});
    }
  }
  return chart;
}

}  // namespace

Page throughput_page(std::span<const ReportCell> cells) {
  Page page{.id = "throughput", .title = "Throughput"};
  page.html =
      "<p>Units finished in the stable phase over its length: a ratio of totals that includes the wait for input. "
      "The bar's line is the 95 % interval; steps that depend on each other widen it.</p>\n";
  const std::vector<ReportCell> shown_cells = drawn(cells);
  if (std::optional<Chart> chart = frameworks_chart(shown_cells)) {
    page.tables.push_back(chart->table);
    page.tables.back().title = chart->title;
    page.charts.push_back(std::move(*chart));
  }
  std::set<std::string> units;
  for (const ReportCell& cell : cells) units.insert(cell.result.workload.unit);
  int number = 0;
  for (const std::string& unit : units) {
    const std::string shown = unit.empty() ? "units" : unit;
    Chart chart{.id = cat("throughput-", ++number),
                .title = cat("Throughput, ", shown, " per second"),
                .y_title = shown + "/s",
                .caption = "Longer is faster. Pipeline input reads and decodes while it trains.",
                .mark = Mark::bars,
                .from_zero = true,
                .table = interval_table(cells, unit)};
    std::vector<InputMode> modes;
    for (const ReportCell& cell : shown_cells) {
      if (cell.result.workload.unit != unit) continue;
      chart.order.push_back(cell.label);
      const InputMode& mode = cell.result.workload.input_mode;
      if (!std::ranges::count(modes, mode)) modes.push_back(mode);
    }
    for (const InputMode& mode : modes) chart.series.push_back(throughput_series(shown_cells, unit, mode));
    chart.metric = "throughput";
    page.tables.push_back(chart.table);
    page.tables.back().title = chart.title;
    const bool any = std::ranges::any_of(chart.table.rows, [](const auto& row) { return row[1].index() != 0; });
    if (any && chart.order.size() <= kMostBars)
      page.charts.push_back(std::move(chart));
    else
      page.html += folded_table(chart.table, chart.title);
  }
  return page;
}

}  // namespace tbd
