// Figure 7 of Zhu et al. 2018: how busy the host's processors are, a bar a model and framework.
#include <algorithm>
#include <set>

#include "report/page.h"
#include "report/panels.h"

namespace tbd {
namespace {

struct CpuBar {
  std::string row;  // the model
  std::string series;
  size_t color = 0;
  const Sweep* sweep = nullptr;
  const SweepPoint* point = nullptr;
};

// Of one machine, math type and input mode; each sweep at its largest batch that has a number.
struct Bars {
  std::string title;
  std::vector<CpuBar> bars;
};

const SweepPoint* measured_point(const Sweep& sweep) {
  const SweepPoint* found = nullptr;
  for (const SweepPoint& point : sweep.points)
    if (point.cpu_utilization.value) found = &point;
  return found;
}

std::vector<Bars> all_bars(const Content& content) {
  std::vector<Bars> all;
  for (const ModelGroup& group : model_groups(content))
    for (const Panel& panel : group.panels)
      for (const PanelSeries& each : panel.series) {
        const SweepPoint* point = measured_point(*each.sweep);
        if (!point) continue;
        const MeasuredWorkload& w = each.sweep->workload;
        const std::string title = cat(panel.where, ", ", w.input_mode, " input");
        auto bars = std::ranges::find(all, title, &Bars::title);
        if (bars == all.end()) bars = all.insert(all.end(), {.title = title});
        const std::string mode = w.mode == Mode::kEager ? "" : cat(" ", w.mode);
        bars->bars.push_back({group.title, cat(w.framework, mode), each.color, each.sweep, point});
      }
  return all;
}

Table cpu_table(const Bars& bars) {
  Table table;
  table.columns = {{"model", "model"},
                   {"framework", "framework"},
                   {"mode", "mode"},
                   {"batch", "batch", Unit::count},
                   {"cpu_utilization", "CPU utilization", Unit::fraction},
                   {"busy_cores", "busy cores"},
                   {"launches", "launches", Unit::count},
                   {"steps", "n, steps after warming up", Unit::count},
                   {"grade", "grade"},
                   {"record_hash", "record"}};
  for (const CpuBar& bar : bars.bars) {
    const CellResult& result = bar.point->cell;
    table.rows.push_back({bar.row, bar.sweep->workload.framework, bar.sweep->workload.mode.text(), bar.point->batch,
                          cell(bar.point->cpu_utilization.value), cell(result["busy_cores"].value), result.launches,
                          result.steps,
                          result.judgement.grade.empty() ? TableCell() : TableCell(result.judgement.grade),
                          result.record_hash.substr(0, 12)});
  }
  return table;
}

Chart cpu_chart(const Bars& bars, size_t number) {
  Chart chart{.id = cat("cpu-", number), .title = cat("CPU utilization, ", bars.title)};
  chart.y_title = "of the usable cores, %";
  chart.metric = "cpu_utilization";
  chart.caption = "As Fig. 7 of Zhu et al. 2018: each framework at its largest batch that ran.";
  chart.mark = Mark::groups;
  chart.from_zero = true;
  for (const CpuBar& bar : bars.bars) {
    auto series = std::ranges::find(chart.series, bar.series, &ChartSeries::name);
    if (series == chart.series.end())
      series = chart.series.insert(series, ChartSeries{.name = bar.series, .color = bar.color});
    series->labels.push_back(bar.row);
    series->y.push_back(100 * *bar.point->cpu_utilization.value);
    if (!std::ranges::count(chart.order, bar.row)) chart.order.push_back(bar.row);
  }
  chart.table = cpu_table(bars);
  return chart;
}

// Bars that would each stand alone share a chart, each under its full name.
void join_single(std::vector<Bars>& all) {
  if (all.size() < 2 || std::ranges::any_of(all, [](const Bars& bars) { return bars.bars.size() > 1; })) return;
  Bars joined{.title = "each workload", .bars = {}};
  for (const Bars& bars : all) {
    CpuBar bar = bars.bars.front();
    bar.series = cat(bar.series, " ", bars.title);
    bar.color = joined.bars.size();
    joined.bars.push_back(std::move(bar));
  }
  all = {std::move(joined)};
}

}  // namespace

Page cpu_utilization_page(const Content& content) {
  Page page{.id = "cpu-utilization", .title = "CPU utilization"};
  if (content.sweeps.size() < 2) return page;
  std::vector<Bars> all = all_bars(content);
  join_single(all);
  for (const Bars& bars : all) {
    page.charts.push_back(cpu_chart(bars, page.charts.size() + 1));
    page.tables.push_back(page.charts.back().table);
    page.tables.back().title = page.charts.back().title;
  }
  return page;
}

}  // namespace tbd
