// The loss of each step, for the largest batch of each series that recorded one.
#include <algorithm>
#include <cmath>

#include "report/panels.h"

namespace tbd {
namespace {

constexpr size_t kMostLossPoints = 100;

const Launch* with_loss(const Record& record) {
  for (const Launch& launch : record.launches)
    if (std::ranges::any_of(launch.steps, [](const StepRow& row) { return row.loss.has_value(); })) return &launch;
  return nullptr;
}

// The largest batch with a recorded loss.
std::pair<const SweepPoint*, const Launch*> source_of(const Sweep& sweep) {
  for (auto point = sweep.points.rbegin(); point != sweep.points.rend(); ++point)
    if (const Launch* launch = with_loss(*point->record)) return {&*point, launch};
  return {nullptr, nullptr};
}

TableCell least(const Launch& launch) {
  std::optional<double> best;
  for (const StepRow& row : launch.steps)
    if (row.loss && std::isfinite(*row.loss) && (!best || *row.loss < *best)) best = row.loss;
  return cell(best);
}

size_t stride_of(const Launch& launch) { return (launch.steps.size() + kMostLossPoints - 1) / kMostLossPoints; }

void add_losses(Chart& chart, const PanelSeries& each, const SweepPoint& point, const Launch& launch) {
  ChartSeries series{.name = cat(each.name, ", batch ", point.batch), .color = each.color, .dashed = each.square};
  const size_t stride = stride_of(launch);
  for (size_t i = 0; i < launch.steps.size(); ++i) {
    const StepRow& row = launch.steps[i];
    if (!row.loss) continue;
    if (i % stride != 0 && i + 1 != launch.steps.size() && std::isfinite(*row.loss)) continue;
    series.x.push_back(static_cast<double>(row.step));
    series.y.push_back(row.loss);
    chart.data.rows.push_back({each.name, point.batch, launch.info.folder_name(), row.step, *row.loss});
  }
  const auto broken =
      std::ranges::count_if(launch.steps, [](const StepRow& r) { return r.loss && !std::isfinite(*r.loss); });
  chart.table.rows.push_back({each.name, point.batch, static_cast<int64_t>(launch.steps.size()), *series.y.front(),
                              *series.y.back(), least(launch), static_cast<int64_t>(broken),
                              point.cell.record_hash.substr(0, 12)});
  chart.series.push_back(std::move(series));
}

}  // namespace

std::optional<Chart> training_chart(const Panel& panel) {
  Chart chart{.id = cat("l-", panel.id), .title = cat("Training loss, ", panel.where), .x_title = "step"};
  chart.y_title = "loss";
  chart.metric = "loss";
  chart.mark = Mark::lines;
  chart.table.columns = {{"series", "series"},
                         {"batch", "batch", Unit::count},
                         {"steps", "steps", Unit::count},
                         {"first", "first loss"},
                         {"last", "last"},
                         {"least", "least"},
                         {"not_finite", "not finite", Unit::count},
                         {"record_hash", "record"}};
  chart.data.columns = {{"series", ""}, {"batch", ""}, {"launch", ""}, {"step", ""}, {"loss", ""}};
  bool thinned = false;
  for (const PanelSeries& each : panel.series) {
    const auto [point, launch] = source_of(*each.sweep);
    if (!launch) continue;
    add_losses(chart, each, *point, *launch);
    thinned = thinned || stride_of(*launch) > 1;
  }
  chart.caption =
      cat("The largest batch of each series, as the framework returned it; a gap: not a finite number.",
          thinned ? cat(" About ", kMostLossPoints, " steps of each are drawn; steps.csv of the record has all.") : "");
  return chart.series.empty() ? std::nullopt : std::optional(std::move(chart));
}

}  // namespace tbd
