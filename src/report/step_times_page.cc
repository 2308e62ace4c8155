// Step times of every launch with the stable phase that was found in them.
#include <algorithm>

#include "report/page.h"
#include "stats/summary.h"

namespace tbd {
namespace {

constexpr size_t kMostStepPoints = 1'500;  // more are drawn as a line

bool withheld(const ReportCell& cell) { return cell.result.judgement.withheld.has_value(); }

Table launch_table(const ReportCell& cell) {
  Table table;
  table.columns = {{"launch", "launch"},
                   {"steps", "steps", Unit::count},
                   {"stable_from", "stable from", Unit::count},
                   {"stable_to", "to", Unit::count},
                   {"phase", "before it"},
                   {"mean", "mean", Unit::seconds},
                   {"median", "median", Unit::seconds},
                   {"p95", "p95", Unit::seconds},
                   {"p99", "p99", Unit::seconds},
                   {"max", "max", Unit::seconds},
                   {"drift", "drift", Unit::fraction}};
  for (const LaunchView& launch : cell.run.launches) {
    std::vector<TableCell> row = {launch.launch->info.folder_name(), static_cast<int64_t>(launch.launch->steps.size())};
    row.resize(table.columns.size());
    if (launch.phase.steps() > 0) {
      const StepTimeSummary s = summary(launch.window_times());
      row = {row[0],
             row[1],
             launch.window().front().step,
             launch.window().back().step,
             std::string(name(launch.phase.kind)),
             s.mean,
             s.p50.value,
             s.p95.value,
             s.p99.value,
             s.max,
             tbd::cell(launch.shift.drift)};
    }
    table.rows.push_back(std::move(row));
  }
  if (withheld(cell)) table.notes.push_back(*cell.result.judgement.withheld);
  return table;
}

Table all_steps(const ReportCell& cell) {
  Table table;
  table.columns = {{"launch", ""}, {"step", ""}, {"step_time_s", ""}, {"units", ""}, {"stable", ""}};
  for (const LaunchView& launch : cell.run.launches)
    for (size_t i = 0; i < launch.times.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const bool stable = at >= launch.phase.start && at < launch.phase.end;
      table.rows.push_back(
          {launch.launch->info.folder_name(), launch.rows()[i].step, launch.times[i], launch.rows()[i].units, stable});
    }
  return table;
}

ChartSeries step_time_series(const LaunchView& launch) {
  ChartSeries series{.name = launch.launch->info.folder_name()};
  for (size_t i = 0; i < launch.times.size(); ++i) {
    series.x.push_back(static_cast<double>(launch.rows()[i].step));
    series.y.push_back(launch.times[i] * 1e3);
  }
  return series;
}

std::string before(PhaseClass kind) {
  switch (kind) {
    case PhaseClass::flat:
      return "from the first step that may count";
    case PhaseClass::warm_up:
      return "slower before it";
    case PhaseClass::none:
      break;
  }
  return "no step is left";
}

std::string caption_of(const ReportCell& cell) {
  if (cell.run.launches.empty()) return "";
  const LaunchView& first = cell.run.launches.front();
  if (first.phase.steps() == 0) return "No step was measured after warming up.";
  const std::string noun = cell.run.launches.size() > 1 ? "the first launch after warming up" : "after warming up";
  return cat("Shaded: ", noun, ", steps ", first.window().front().step, " to ", first.window().back().step, " (",
             cell.run.smoke() ? "assumed: smoke effort" : before(first.phase.kind), ").",
             withheld(cell) ? " Its numbers are withheld: " + *cell.result.judgement.withheld + "." : "");
}

Chart step_times_chart(const ReportCell& cell, size_t number) {
  Chart chart{.id = cat("step-times-", number),
              .title = cell.label,
              .x_title = "step",
              .y_title = "step time, ms",
              .caption = caption_of(cell),
              .table = launch_table(cell),
              .data = all_steps(cell)};
  size_t points = 0;
  for (const LaunchView& launch : cell.run.launches) {
    chart.series.push_back(step_time_series(launch));
    points += launch.times.size();
  }
  chart.mark = points <= kMostStepPoints ? Mark::points : Mark::lines;
  if (cell.run.launches.empty() || cell.run.launches.front().phase.steps() == 0) return chart;
  const auto window = cell.run.launches.front().window();
  chart.bands.push_back({.begin = static_cast<double>(window.front().step) - 0.5,
                         .end = static_cast<double>(window.back().step) + 0.5,
                         .label = "warmed up"});
  if (const std::optional<double> mean = cell.result["step_time_mean"].value) {
    chart.level = *mean * 1e3;
    chart.bands.front().label = cat("warmed up, mean ", format_seconds(*mean));
  }
  return chart;
}

// The speed probe's rates over the best that it saw, in percent; nothing where it did not run.
std::optional<Chart> speed_chart(const ReportCell& cell, size_t number) {
  const CoreRates best = best_rates(cell.record->launches);
  if (!(best.read_byte_rate > 0)) return std::nullopt;
  Chart chart{
      .id = cat("core-speed-", number),
      .title = cell.label + ": speed of the cores",
      .x_title = "step",
      .y_title = "percent of the best",
      .caption =
          cat("Work of a known size between blocks of steps, on every core at once: the slowest core's rate over the "
              "best that this record kept up. Where the median of five falls below ",
              format_percent(1 - most_undisturbed(&Block::fma_loss)), " of multiply-adds, or ",
              format_percent(1 - most_undisturbed(&Block::read_loss)), " of reads, a block counts as disturbed."),
      .mark = Mark::lines};
  Table table;
  table.columns = {{"launch", "launch"}, {"step", "step"}, {"multiply_adds", "multiply-adds"}, {"reads", "reads"}};
  for (const LaunchView& launch : cell.run.launches) {
    const std::string name = launch.launch->info.folder_name();
    ChartSeries fma{.name = name + ", multiply-adds"}, reads{.name = name + ", reads", .dashed = true};
    for (const StepRow& row : launch.rows()) {
      if (!row.read_byte_rate) continue;
      const double read = 100 * static_cast<double>(*row.read_byte_rate) / best.read_byte_rate;
      std::optional<double> compute;
      if (row.fma_flop_rate) compute = 100 * static_cast<double>(*row.fma_flop_rate) / best.fma_flop_rate;
      fma.x.push_back(static_cast<double>(row.step));
      fma.y.push_back(compute);
      reads.x.push_back(static_cast<double>(row.step));
      reads.y.push_back(read);
      table.rows.push_back({name, row.step, tbd::cell(compute), read});
    }
    chart.series.push_back(std::move(fma));
    chart.series.push_back(std::move(reads));
  }
  chart.data = table;
  return chart;
}

std::string untimed(std::span<const ReportCell> cells) {
  std::vector<std::string> names;
  for (const ReportCell& cell : cells)
    if (cell.run.launches.empty()) names.push_back(cell.label);
  if (names.empty()) return "";
  if (names.size() == 1) return cat("<p class=\"note\">", html_escaped(names.front()), ": no step was timed.</p>\n");
  return cat("<details><summary>", names.size(), " workloads of which no step was timed</summary><p class=\"note\">",
             html_escaped(join(names, "; ")), "</p></details>\n");
}

}  // namespace

Page step_times_page(std::span<const ReportCell> cells) {
  Page page{.id = "step-times", .title = "Step times"};
  page.html =
      "<p>Every step from the first on, as it was stamped. Where a launch has warmed up is found afterwards, never "
      "assumed; steps are cut at the start only. Below the steps: how fast the cores were between blocks of steps, by "
      "work of a known size. All results come from the shaded steps, outliers included; the headline from those blocks "
      "whose evidence calls them undisturbed, where these are a fifth of the time.</p>\n";
  std::vector<const ReportCell*> timed;
  for (const ReportCell& cell : cells) {
    page.tables.push_back(launch_table(cell));
    page.tables.back().title = "Step times: " + cell.label;
    if (!cell.run.launches.empty() && !cell.stands_in) timed.push_back(&cell);
  }
  size_t drawn = 0;
  for (const ReportCell* cell : chosen(timed, kMostFigures)) {
    page.charts.push_back(step_times_chart(*cell, ++drawn));
    if (std::optional<Chart> speed = speed_chart(*cell, drawn)) page.charts.push_back(std::move(*speed));
  }
  page.html +=
      folded_note(drawn, timed.size(),
                  "tbd report RECORD draws any other; every step is in the record's steps.csv, and --format csv "
                  "or json has each launch.");
  page.html += untimed(cells);
  return page;
}

}  // namespace tbd
