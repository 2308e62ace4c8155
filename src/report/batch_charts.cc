// Figures 4 to 6 of Zhu et al. 2018: throughput, compute and FLOP utilization against batch size.
#include <algorithm>
#include <functional>

#include "report/panels.h"

namespace tbd {
namespace {

using Pick = std::function<Measured(const SweepPoint&)>;

struct Curve {
  Pick pick;
  double scale = 1;
  std::string suffix;  // of the series' name
  bool dashed = false;
};

ChartSeries curve_of(const PanelSeries& each, const Curve& curve) {
  ChartSeries series{.name = each.name + curve.suffix, .color = each.color, .dashed = curve.dashed};
  series.square = each.square;
  const auto scaled = [&](const std::optional<double>& value) {
    return value ? std::optional(*value * curve.scale) : value;
  };
  bool intervals = false;
  for (const SweepPoint& point : each.sweep->points) {
    const Measured value = curve.pick(point);
    series.x.push_back(static_cast<double>(point.batch));
    series.y.push_back(scaled(value.value));
    series.low.push_back(scaled(value.low));
    series.high.push_back(scaled(value.high));
    intervals = intervals || (value.low && value.high);
  }
  if (!intervals) {
    series.low.clear();
    series.high.clear();
  }
  return series;
}

bool has_points(const ChartSeries& series) {
  return std::ranges::any_of(series.y, [](const auto& y) { return y.has_value(); });
}

// Batches without a number, as marks on the axis that say what came instead.
ChartSeries gaps_of(const PanelSeries& each, const Pick& pick) {
  ChartSeries series{.name = each.name + ", no number", .role = "gap", .color = each.color};
  for (const SweepPoint& point : each.sweep->points) {
    if (pick(point).value) continue;
    series.x.push_back(static_cast<double>(point.batch));
    series.y.push_back(0);
    series.text.push_back(std::string(name(point.cell.judgement.outcome.kind)));
  }
  return series;
}

void add_curves(Chart& chart, const Panel& panel, const Curve& curve, bool with_gaps) {
  for (const PanelSeries& each : panel.series) {
    ChartSeries series = curve_of(each, curve);
    const bool any = has_points(series);
    if (any) chart.series.push_back(std::move(series));
    if (!with_gaps) continue;
    if (ChartSeries gaps = gaps_of(each, curve.pick); !gaps.x.empty()) chart.series.push_back(std::move(gaps));
  }
}

bool any_drawn(const Chart& chart) {
  return std::ranges::any_of(chart.series, [](const ChartSeries& s) { return s.role != "gap" && has_points(s); });
}

std::string short_hash(const SweepPoint& point) { return point.cell.record_hash.substr(0, 12); }

Table throughput_table(const Panel& panel) {
  Table table;
  table.columns = {{"series", "series"},
                   {"input_mode", "input"},
                   {"mode", "mode"},
                   {"batch", "batch", Unit::count},
                   {"throughput", panel.unit + "/s", Unit::per_second},
                   {"low", "95 % from", Unit::per_second},
                   {"high", "to", Unit::per_second},
                   {"launches", "launches", Unit::count},
                   {"steps", "n, steps after warming up", Unit::count},
                   {"grade", "grade"},
                   {"flags", "flags"},
                   {"outcome", "outcome"},
                   {"record_hash", "record"}};
  for (const PanelSeries& each : panel.series) {
    const MeasuredWorkload& w = each.sweep->workload;
    for (const SweepPoint& point : each.sweep->points) {
      const Measured& x = point.cell["throughput"];
      const Judgement& judged = point.cell.judgement;
      table.rows.push_back({each.name, w.input_mode.text(), w.mode.text(), point.batch, cell(x.value), cell(x.low),
                            cell(x.high), point.cell.launches, point.cell.steps,
                            judged.grade.empty() ? TableCell() : TableCell(judged.grade),
                            judged.flags.empty() ? TableCell() : TableCell(join(judged.flags, ", ")),
                            std::string(name(judged.outcome.kind)), short_hash(point)});
    }
  }
  return table;
}

std::string knees(const Panel& panel) {
  std::string text;
  for (const PanelSeries& each : panel.series) {
    if (const std::optional<Knee> k = knee(*each.sweep); k && k->batch > 0) {
      text += cat(" ", each.name, ": 95 % of its best from batch ", k->batch);
      if (k->low != k->high) text += cat(" (", k->low, " … ", k->high, ")");
      text += ".";
    }
    if (const std::string limit = each.sweep->memory_limit_label(); !limit.empty())
      text += cat(" ", each.name, ": ", limit, ".");
  }
  return text;
}

std::optional<double> overhead(const SweepPoint& point) {
  return point.profile && point.profile->overhead ? std::optional(point.profile->overhead->value - 1) : std::nullopt;
}

// Of traced cells alone.
Table traced_table(const Panel& panel, const std::vector<std::pair<Column, Pick>>& picks) {
  Table table;
  table.columns = {{"series", "series"}, {"batch", "batch", Unit::count}};
  for (const auto& [column, pick] : picks) {
    table.columns.push_back(column);
    table.columns.push_back({column.key + "_low", "95 % from", Unit::fraction});
    table.columns.push_back({column.key + "_high", "to", Unit::fraction});
  }
  table.columns.push_back({"steps", "traced steps", Unit::count});
  table.columns.push_back({"trace_overhead", "tracing costs", Unit::fraction});
  table.columns.push_back({"record_hash", "record"});
  for (const PanelSeries& each : panel.series)
    for (const SweepPoint& point : each.sweep->points) {
      if (!point.profile) continue;
      std::vector<TableCell> row = {each.name, point.batch};
      for (const auto& [column, pick] : picks) {
        const Measured value = pick(point);
        row.insert(row.end(), {cell(value.value), cell(value.low), cell(value.high)});
      }
      row.insert(row.end(), {point.profile->steps, cell(overhead(point)), short_hash(point)});
      table.rows.push_back(std::move(row));
    }
  return table;
}

Chart batch_chart(const Panel& panel, const char* what, std::string title) {
  Chart chart{.id = cat(what, "-", panel.id), .title = cat(title, ", ", panel.where), .x_title = "batch"};
  chart.mark = Mark::curves;
  chart.from_zero = true;
  return chart;
}

Measured active(const SweepPoint& point) { return point.flop_active; }
Measured window(const SweepPoint& point) { return point.flop_window; }

// Best matrix product over the instruction peak: what the math type's units reach at most in practice.
std::optional<double> product_share(const Panel& panel) {
  for (const PanelSeries& each : panel.series)
    for (const SweepPoint& point : each.sweep->points) {
      const Roofs roofs = Roofs::of(point.record->run);
      const auto isa = roofs.isa.find(each.sweep->workload.precision.text()),
                 gemm = roofs.gemm.find(isa == roofs.isa.end() ? "" : isa->first);
      if (isa != roofs.isa.end() && gemm != roofs.gemm.end() && isa->second > 0) return gemm->second / isa->second;
    }
  return std::nullopt;
}

}  // namespace

std::optional<Chart> throughput_chart(const Panel& panel) {
  Chart chart = batch_chart(panel, "x", cat("Throughput, ", panel.unit, " per second"));
  chart.y_title = panel.unit + "/s";
  chart.metric = "throughput";
  chart.caption =
      cat("As Fig. 4 of Zhu et al. 2018. Lines at the points: 95 % intervals; a cross on the axis: no number, "
          "and why.",
          knees(panel));
  add_curves(chart, panel, {.pick = [](const SweepPoint& point) { return point.cell["throughput"]; }}, true);
  chart.table = throughput_table(panel);
  return any_drawn(chart) ? std::optional(std::move(chart)) : std::nullopt;
}

std::optional<Chart> compute_utilization_chart(const Panel& panel) {
  Chart chart = batch_chart(panel, "u", "Compute utilization");
  chart.y_title = "of the time, %";
  chart.metric = "compute_utilization";
  chart.caption = "As Fig. 5 of Zhu et al. 2018. From traced launches: what tracing costs stands in the table.";
  const Pick pick = [](const SweepPoint& point) { return point.compute_utilization; };
  add_curves(chart, panel, {.pick = pick, .scale = 100}, false);
  chart.table = traced_table(panel, {{{"compute_utilization", "compute utilization", Unit::fraction}, pick}});
  return any_drawn(chart) ? std::optional(std::move(chart)) : std::nullopt;
}

std::optional<Chart> flop_utilization_chart(const Panel& panel) {
  Chart chart = batch_chart(panel, "f", "FLOP utilization");
  chart.y_title = "of the instruction peak, %";
  chart.metric = "flop_active";
  chart.caption = "As Fig. 6 of Zhu et al. 2018. Solid: while some operation computes; dashed: all the time.";
  add_curves(chart, panel, {.pick = active, .scale = 100, .suffix = ", active"}, false);
  add_curves(chart, panel, {.pick = window, .scale = 100, .suffix = ", all the time", .dashed = true}, false);
  chart.table = traced_table(panel, {{{"flop_active", "active", Unit::fraction}, active},
                                     {{"flop_window", "all the time", Unit::fraction}, window}});
  if (const std::optional<double> share = product_share(panel)) {
    chart.level = 100 * *share;
    chart.level_name = "best matrix product";
  }
  return any_drawn(chart) ? std::optional(std::move(chart)) : std::nullopt;
}

}  // namespace tbd
