// Memory by data structure, from launches of pass memory: at the peak, and over one step.
#include "analysis/memory/memory_report.h"
#include "report/page.h"

namespace tbd {
namespace {

constexpr double kMiB = 1024 * 1024;
constexpr size_t kPoints = 240, kBands = 12;

struct Watched {
  const ReportCell* cell;
  MemoryReport report;
};

std::vector<Watched> watched(std::span<const ReportCell> cells) {
  std::vector<Watched> out;
  for (const ReportCell& cell : cells)
    if (std::optional<MemoryReport> report = memory_report(*cell.record)) out.push_back({&cell, std::move(*report)});
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
  chart.table.columns = {{"cell", "cell"}, {"class", "class"}, {"bytes", "bytes", Unit::bytes}};
  chart.data.columns = {{"cell", ""}, {"class", ""}, {"bytes", ""}};
  for (const Watched& each : all) chart.order.push_back(each.cell->label);
  for (size_t c = 0; c < kMemoryClasses; ++c) {
    ChartSeries series{.name = std::string(name(static_cast<MemoryClass>(c)))};
    int64_t any = 0;
    for (const auto& [cell, report] : all) {
      const int64_t bytes = report.study.peak.requested[c];
      series.labels.push_back(cell->label), series.y.push_back(mib(bytes)), any += bytes;
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

}  // namespace

Page memory_classes_page(std::span<const ReportCell> cells) {
  Page page{.id = "memory-classes", .title = "Where memory goes"};
  const std::vector<Watched> all = watched(cells);
  if (all.empty()) return page;
  page.html =
      "<p>From launches of their own, in which every allocation was followed as far as the framework lets it be; each "
      "cell says how far.</p>\n";
  page.charts.push_back(peak_chart(all));
  for (size_t i = 0; i < all.size(); ++i) {
    page.charts.push_back(step_chart(all[i], i + 1));
    page.below += cat("<h3>", html_escaped(all[i].cell->label), "</h3>\n");
    for (Table& table : memory_tables(all[i].report)) {
      page.below += to_html(table);
      table.title = cat(table.title, ": ", all[i].cell->label);
      page.tables.push_back(std::move(table));
    }
  }
  return page;
}

}  // namespace tbd
