// Figure 9 of Zhu et al. 2018: memory by data structure at the instant of the peak, against batch size.
#include <algorithm>
#include <set>

#include "base/units.h"
#include "report/panels.h"

namespace tbd {
namespace {

struct MemoryBar {  // one bar
  const PanelSeries* series;
  const SweepPoint* point;
};

std::vector<MemoryBar> columns_of(const Panel& panel) {
  std::vector<MemoryBar> columns;
  for (const PanelSeries& each : panel.series)
    for (const SweepPoint& point : each.sweep->points)
      if (point.memory) columns.push_back({&each, &point});
  return columns;
}

std::string words(std::string_view key) {
  std::string out(key);
  std::ranges::replace(out, '_', ' ');
  return out;
}

ChartSeries class_series(const std::vector<MemoryBar>& columns, size_t c) {
  ChartSeries series{.name = words(name(static_cast<MemoryClass>(c))), .color = c};
  for (const auto& [each, point] : columns) {
    series.groups.push_back(each->name);
    series.labels.push_back(cat(point->batch));
    series.y.push_back(static_cast<double>(point->memory->study.peak.requested[c]) / kMiB);
  }
  return series;
}

bool any(const ChartSeries& series) {
  return std::ranges::any_of(series.y, [](const auto& y) { return y && *y > 0; });
}

// What the allocator held when it held most.
ChartSeries outline(const std::vector<MemoryBar>& columns) {
  ChartSeries series{.name = "held by the allocator", .role = "outline"};
  for (const auto& [each, point] : columns) {
    series.groups.push_back(each->name);
    series.labels.push_back(cat(point->batch));
    series.y.push_back(static_cast<double>(point->memory->study.held_peak) / kMiB);
  }
  return series;
}

Table memory_table(const std::vector<MemoryBar>& columns) {
  Table table;
  table.columns = {{"series", "series"},
                   {"batch", "batch", Unit::count},
                   {"class", "class"},
                   {"paper_class", "in the paper"},
                   {"bytes", "at the peak", Unit::bytes},
                   {"evidence", "evidence"},
                   {"record_hash", "record"}};
  for (const auto& [each, point] : columns)
    for (size_t c = 0; c < kMemoryClasses; ++c) {
      const auto kind = static_cast<MemoryClass>(c);
      const int64_t bytes = point->memory->study.peak.requested[c];
      if (bytes == 0) continue;
      table.rows.push_back({each->name, point->batch, words(name(kind)), std::string(paper_class(kind)), bytes,
                            std::string(name(point->memory->log.evidence)), point->cell.record_hash.substr(0, 12)});
    }
  return table;
}

// "pytorch exact, mxnet plan (classes that are planned as a whole stay one)."
std::string levels(const std::vector<MemoryBar>& columns) {
  std::set<std::string> said;
  for (const auto& [each, point] : columns) said.insert(cat(each->name, " ", name(point->memory->log.evidence)));
  return cat("Evidence: ", join(std::vector<std::string>(said.begin(), said.end()), ", "),
             "; what a framework plans as a whole stays one class.");
}

}  // namespace

std::optional<Chart> memory_chart(const Panel& panel) {
  const std::vector<MemoryBar> columns = columns_of(panel);
  if (columns.empty()) return std::nullopt;
  Chart chart{.id = cat("m-", panel.id), .title = cat("Memory at its peak, ", panel.where), .x_title = "batch"};
  chart.y_title = "requested, MiB";
  chart.metric = "memory_at_peak";
  chart.mark = Mark::columns;
  chart.from_zero = true;
  chart.caption = cat("As Fig. 9 of Zhu et al. 2018. ", levels(columns));
  for (size_t c = 0; c < kMemoryClasses; ++c)
    if (ChartSeries series = class_series(columns, c); any(series)) chart.series.push_back(std::move(series));
  chart.series.push_back(outline(columns));
  chart.table = memory_table(columns);
  return chart;
}

}  // namespace tbd
