// Memory by data structure, from launches of pass memory: at the peak, and over one step.
#include <algorithm>

#include "analysis/memory/memory_report.h"
#include "base/units.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {
namespace {

constexpr size_t kPoints = 240, kBands = 12;

struct Watched {
  const ReportCell* cell;
  const MemoryReport& report;
};

std::vector<const ReportCell*> watched(std::span<const ReportCell> cells) {
  std::vector<const ReportCell*> out;
  for (const ReportCell& cell : cells)
    if (cell.memory()) out.push_back(&cell);
  return out;
}

std::vector<Watched> with_reports(std::span<const ReportCell* const> cells) {
  std::vector<Watched> out;
  for (const ReportCell* cell : cells) out.push_back({cell, *cell->memory()});
  return out;
}

double mib(int64_t bytes) { return static_cast<double>(bytes) / kMiB; }

Chart peak_chart(std::span<const Watched> all) {
  Chart chart{.id = "memory-at-peak",
              .title = "Memory by data structure at the peak",
              .y_title = "requested, MiB",
              .caption = "At the instant at which the sum is greatest; classes add up to it.",
              .mark = Mark::stacks,
              .from_zero = true};
  chart.table.columns = {{"cell", "workload"}, {"class", "class"}, {"bytes", "bytes", Unit::bytes}};
  chart.data.columns = {{"cell", ""}, {"class", ""}, {"bytes", ""}};
  for (const Watched& each : all) chart.order.push_back(each.cell->label);
  for (size_t c = 0; c < kMemoryClasses; ++c) {
    ChartSeries series{.name = std::string(name(static_cast<MemoryClass>(c)))};
    int64_t any = 0;
    for (const auto& [cell, report] : all) {
      const int64_t bytes = report.study.peak.requested[c];
      series.labels.push_back(cell->label);
      series.y.push_back(mib(bytes));
      any += bytes;
      if (bytes == 0) continue;
      chart.table.rows.push_back({cell->label, series.name, bytes});
      chart.data.rows.push_back({cell->label, series.name, bytes});
    }
    if (any > 0) chart.series.push_back(std::move(series));
  }
  return chart;
}

// Ranges of one phase.
std::vector<Band> bands_of(const std::vector<MemorySnapshot>& parts, int64_t zero) {
  std::vector<Band> bands;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double at = 1e-6 * static_cast<double>(parts[i].time_ns - zero);
    if (i > 0 && parts[i].phase == parts[i - 1].phase) {
      bands.back().end = at;
      continue;
    }
    if (!bands.empty()) bands.back().end = at;
    bands.push_back({at, at, std::string(name(parts[i].phase))});
  }
  return bands;
}

Chart step_chart(const Watched& each, size_t number) {
  const std::vector<MemorySnapshot> parts = memory_over_step(each.report.log, each.report.step, kPoints);
  Chart chart{.id = cat("memory-over-step-", number),
              .title = cat("Memory over one step of ", each.cell->label),
              .x_title = "time in the step, ms",
              .y_title = "requested, MiB",
              .caption = cat("Step ", each.report.step, " of the launch that was watched."),
              .mark = Mark::areas,
              .from_zero = true};
  if (parts.empty()) return chart;
  const int64_t zero = parts.front().time_ns;
  chart.bands = bands_of(parts, zero);
  if (chart.bands.size() > kBands) chart.bands.clear();  // phases that run at once
  chart.data = memory_over_step_table(each.report, kPoints);
  chart.table = memory_over_step_table(each.report, 16);
  for (size_t c = 0; c < kMemoryClasses; ++c) {
    ChartSeries series{.name = std::string(name(static_cast<MemoryClass>(c)))};
    int64_t any = 0;
    for (const MemorySnapshot& part : parts) {
      series.x.push_back(1e-6 * static_cast<double>(part.time_ns - zero));
      series.y.push_back(mib(part.requested[c]));
      any += part.requested[c];
    }
    if (any > 0) chart.series.push_back(std::move(series));
  }
  return chart;
}

// Some cell's memory has more that nothing explains than the bounds allow (docs/metrics.md, memory closure).
bool is_open(std::span<const ReportCell* const> cells) {
  return std::ranges::any_of(cells, [](const ReportCell* cell) { return cell->memory()->closure.closed() == false; });
}

}  // namespace

Page memory_classes_page(std::span<const ReportCell> cells) {
  Page page{.id = "memory-classes", .title = "Where memory goes"};
  const std::vector<const ReportCell*> all = watched(cells);
  if (all.empty()) return page;
  if (is_open(all)) page.title += " (open)";
  page.html =
      "<p>From launches of their own, in which every allocation was followed as far as the framework lets it be; each "
      "workload says how far.</p>\n";
  page.charts.push_back(peak_chart(with_reports(chosen(all, kMostBars))));
  const std::vector<const ReportCell*> drawn = chosen(all, kMostFigures);
  page.html +=
      folded_note(drawn.size(), all.size(), "tbd memory RECORD shows any other; --format csv or json has all.");
  for (const Watched& each : with_reports(drawn)) page.charts.push_back(step_chart(each, page.charts.size()));
  for (const ReportCell* cell : all) {
    std::string html;
    for (Table& table : memory_tables(*cell->memory())) {
      if (std::ranges::count(drawn, cell)) html += to_html(table);
      table.title = cat(table.title, ": ", cell->label);
      page.tables.push_back(std::move(table));
    }
    page.below += cell_block(cell->label, html, all.size());
  }
  return page;
}

}  // namespace tbd
