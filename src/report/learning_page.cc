// What networks learned: loss and metrics of trainings against steps and time, laid over each other.
#include <algorithm>
#include <map>
#include <set>

#include "analysis/self_play_tables.h"
#include "analysis/time_to_quality.h"
#include "report/page.h"

namespace tbd {
namespace {

constexpr size_t kMostLearnedPoints = 200;  // more steps are averaged in as many groups

struct LearnedCurve {
  std::string name;  // "pytorch, fp32, seed 1"
  Attempt attempt;
  std::map<int64_t, double> losses;  // by step
};
// Of one network, by title.
using Networks = std::map<std::string, std::vector<LearnedCurve>>;

// Of all launches: where one went on from an earlier step, its losses stand in the place of those that were lost.
std::map<int64_t, double> losses_of(const Record& record) {
  std::map<int64_t, double> losses;
  for (const Launch& launch : record.launches) {
    if (launch.info.pass != Pass::kTrain) continue;
    for (const StepRow& row : launch.steps)
      if (row.loss) losses[row.step] = *row.loss;
  }
  return losses;
}

Networks networks_of(std::span<const ReportCell> cells) {
  Networks out;
  for (const ReportCell& cell : cells)
    if (std::optional<Attempt> attempt = attempt_of(*cell.record)) {
      const std::string name = cat(attempt->setting, ", seed ", attempt->seed);
      out[attempt->network].push_back({name, std::move(*attempt), losses_of(*cell.record)});
    }
  return out;
}

Table times_of(const Networks& networks) {
  std::vector<Attempt> attempts;
  for (const auto& [network, curves] : networks)
    for (const LearnedCurve& curve : curves) attempts.push_back(curve.attempt);
  return time_to_quality_table(attempts);
}

ChartSeries loss_series(const LearnedCurve& curve) {
  ChartSeries series{.name = curve.name};
  const size_t group = std::max<size_t>(1, curve.losses.size() / kMostLearnedPoints);
  double sum = 0;
  size_t count = 0;
  for (const auto& [step, loss] : curve.losses) {
    sum += loss;
    if (++count < group) continue;
    series.x.push_back(static_cast<double>(step));
    series.y.push_back(sum / static_cast<double>(group));
    sum = 0;
    count = 0;
  }
  return series;
}

template <class X>
Chart metric_chart(const std::string& id, const std::string& metric, const std::vector<LearnedCurve>& curves,
                   const X& x) {
  Chart chart{.id = id, .y_title = metric, .mark = Mark::lines};
  for (const LearnedCurve& curve : curves) {
    ChartSeries series{.name = curve.name};
    for (const EvaluationRow& row : curve.attempt.rows)
      if (const auto found = row.metrics.find(metric); found != row.metrics.end()) {
        series.x.push_back(x(row));
        series.y.push_back(found->second);
      }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

std::set<std::string> metrics_of(const std::vector<LearnedCurve>& curves) {
  std::set<std::string> names;
  for (const LearnedCurve& curve : curves)
    for (const EvaluationRow& row : curve.attempt.rows)
      for (const auto& [name, value] : row.metrics) names.insert(name);
  return names;
}

Table table_of(const std::string& network, const std::vector<LearnedCurve>& curves) {
  const std::set<std::string> metrics = metrics_of(curves);
  Table table{.title = cat("Learned: ", network),
              .columns = {{"training", "training"},
                          {"step", "step", Unit::count},
                          {"training_seconds", "training time", Unit::seconds},
                          {"training_loss", "training loss"}}};
  for (const std::string& metric : metrics) table.columns.push_back({metric, metric});
  for (const LearnedCurve& curve : curves)
    for (const EvaluationRow& row : curve.attempt.rows) {
      std::vector<TableCell> cells = {curve.name, row.step, row.training_seconds, cell(row.training_loss)};
      for (const std::string& metric : metrics) {
        const auto found = row.metrics.find(metric);
        cells.push_back(cell(found == row.metrics.end() ? std::nullopt : std::optional(found->second)));
      }
      table.rows.push_back(std::move(cells));
    }
  return table;
}

void add_charts(const std::string& network, const std::vector<LearnedCurve>& curves, size_t number, Page& page) {
  Chart loss{.id = cat("learned-loss-", number),
             .title = network + ": training loss",
             .x_title = "step",
             .y_title = "loss",
             .caption = "Of the batches that were trained on, averaged where there are many.",
             .mark = Mark::lines,
             .table = page.tables.back()};
  for (const LearnedCurve& curve : curves) loss.series.push_back(loss_series(curve));
  page.charts.push_back(std::move(loss));
  size_t metric_number = 0;
  for (const std::string& metric : metrics_of(curves)) {
    const std::string id = cat("learned-", number, "-", ++metric_number);
    Chart by_step = metric_chart(id + "-steps", metric, curves, [](const EvaluationRow& row) { return row.step; });
    by_step.title = cat(network, ": ", metric, " against steps");
    by_step.x_title = "step";
    by_step.caption = "On the held-out part of the data set, or in matches.";
    page.charts.push_back(std::move(by_step));
    Chart by_time =
        metric_chart(id + "-time", metric, curves, [](const EvaluationRow& row) { return row.training_seconds; });
    by_time.title = cat(network, ": ", metric, " against training time");
    by_time.x_title = "training time, s";
    by_time.caption = "The same against the time that training alone took.";
    page.charts.push_back(std::move(by_time));
  }
}

// Of a training by self-play: what it played, and how strong it was found.
void add_self_play(const Record& record, Page& page) {
  const std::vector<GenerationRow> generations = read_generations(record.folder);
  if (generations.empty()) return;
  const std::string name = record.folder.filename().string();
  page.tables.push_back(generations_table(cat("Self-play of ", name), generations));
  page.tables.push_back(matches_table(cat("Matches of ", name), read_matches(record.folder)));
}

}  // namespace

Page learning_page(std::span<const ReportCell> cells) {
  Page page{.id = "learned", .title = "Learned"};
  const Networks networks = networks_of(cells);
  if (networks.empty()) return page;
  if (Table times = times_of(networks); !times.rows.empty()) page.tables.push_back(std::move(times));
  page.html =
      "<p>Trainings to a result: the loss of what was trained on, and metrics of the held-out part of the data set, or "
      "of matches where a network learns from games against itself. "
      "Frameworks and seeds of one network are laid over each other.</p>\n";
  size_t number = 0;
  for (const auto& [network, curves] : networks) {
    page.tables.push_back(table_of(network, curves));
    add_charts(network, curves, ++number, page);
  }
  for (const ReportCell& cell : cells) add_self_play(*cell.record, page);
  return page;
}

}  // namespace tbd
