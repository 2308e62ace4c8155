// Resident memory over the steps, and the peaks.
#include <algorithm>

#include "analysis/metric_parts.h"
#include "analysis/sweep/largest_batch.h"
#include "base/units.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {
namespace {

// The first launch stands for its cell; the table holds the peak of all.
ChartSeries rss_series(const ReportCell& cell) {
  ChartSeries series{.name = cell.label};
  if (cell.record->launches.empty()) return series;
  for (const StepRow& row : cell.record->launches.front().steps) {
    if (!row.rss_bytes) continue;
    series.x.push_back(static_cast<double>(row.step));
    series.y.push_back(static_cast<double>(*row.rss_bytes) / kMiB);
  }
  return series;
}

bool has_resident(const ReportCell& cell) {
  return !cell.record->launches.empty() &&
         std::ranges::any_of(cell.record->launches.front().steps,
                             [](const StepRow& row) { return row.rss_bytes.has_value(); });
}

std::optional<int64_t> rss_at(const LaunchView& launch, bool last) {
  const auto window = launch.window();
  if (window.empty()) return std::nullopt;
  return last ? window.back().rss_bytes : window.front().rss_bytes;
}

bool any_on_gpu(std::span<const ReportCell> cells) {
  return std::ranges::any_of(cells, [](const ReportCell& cell) { return on_gpu(cell.record->run.workload); });
}

Table peak_memory_table(std::span<const ReportCell> cells) {
  Table table;
  table.columns = {{"cell", "workload"},
                   {"peak_rss_bytes", "peak resident", Unit::bytes},
                   {"allocator_peak_bytes", "allocator peak", Unit::bytes},
                   {"weight_bytes", "weights in fp32", Unit::bytes},
                   {"stable_start_bytes", "at start of stable phase", Unit::bytes},
                   {"stable_end_bytes", "at its end", Unit::bytes},
                   {"growth_bytes", "growth", Unit::bytes}};
  const bool gpu = any_on_gpu(cells);
  if (gpu) table.columns.insert(table.columns.begin() + 3, Column{"gpu_memory_bytes", "device memory", Unit::bytes});
  for (const ReportCell& cell : cells) {
    std::optional<int64_t> begin, end, growth, weights;
    if (!cell.run.launches.empty()) {
      begin = rss_at(cell.run.launches.front(), false);
      end = rss_at(cell.run.launches.front(), true);
    }
    if (begin && end) growth = *end - *begin;
    if (const auto parameters = cell.record->run.parameters; parameters && *parameters < (int64_t{1} << 60))
      weights = *parameters * 4;
    table.rows.push_back({cell.label, tbd::cell(cell.result["peak_rss_bytes"].value),
                          tbd::cell(cell.result["allocator_peak_bytes"].value), tbd::cell(weights), tbd::cell(begin),
                          tbd::cell(end), tbd::cell(growth)});
    if (gpu) {
      std::vector<TableCell>& row = table.rows.back();
      row.insert(row.begin() + 3, tbd::cell(cell.result["gpu_memory_bytes"].value));
    }
  }
  return table;
}

Table rss_data(std::span<const ReportCell* const> cells) {
  Table table;
  table.columns = {{"cell", ""}, {"launch", ""}, {"step", ""}, {"rss_bytes", ""}};
  for (const ReportCell* cell : cells)
    for (const Launch& launch : cell->record->launches)
      for (const StepRow& row : launch.steps)
        if (row.rss_bytes) table.rows.push_back({cell->label, launch.info.folder_name(), row.step, *row.rss_bytes});
  return table;
}

}  // namespace

Page memory_page(std::span<const ReportCell> cells) {
  Page page{.id = "memory", .title = "Memory"};
  page.html =
      "<p>Resident memory is what the operating system holds for the worker, framework and code included. The "
      "allocator's peak is the framework's own count of live tensors.</p>\n";
  if (any_on_gpu(cells))
    page.html +=
        "<p>Of a workload on a GPU the allocator's peak is memory of the device, and resident memory is that of the "
        "process on the host.</p>\n";
  std::vector<const ReportCell*> all;
  for (const ReportCell& cell : cells)
    if (has_resident(cell)) all.push_back(&cell);
  const std::vector<const ReportCell*> drawn = chosen(all, kMostFigures);
  Chart chart{.id = "memory-over-steps",
              .title = "Resident memory over the steps",
              .x_title = "step",
              .y_title = "resident memory, MiB",
              .caption = "First launch of each workload, read at the end of each step.",
              .metric = "peak_rss_bytes",
              .mark = Mark::lines,
              .from_zero = true,
              .table = peak_memory_table(cells),
              .data = rss_data(drawn)};
  for (const ReportCell* cell : drawn) chart.series.push_back(rss_series(*cell));
  page.tables.push_back(chart.table);
  page.tables.back().title = "Memory";
  page.html +=
      folded_note(drawn.size(), all.size(), "The table has the peaks of all; steps.csv of each record every step.");
  if (chart.series.empty())
    page.html += folded_table(chart.table, "Memory");
  else
    page.charts.push_back(std::move(chart));
  std::vector<const Record*> records;
  for (const ReportCell& cell : cells) records.push_back(cell.record);
  if (Table found = largest_batch_table(records); !found.rows.empty()) {
    (page.charts.empty() ? page.html : page.below) += to_html(found);
    page.tables.push_back(std::move(found));
  }
  return page;
}

}  // namespace tbd
