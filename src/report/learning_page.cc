// What networks learned: loss and metrics of trainings against steps and time, laid over each other.
#include <algorithm>
#include <map>
#include <set>

#include "analysis/self_play_tables.h"
#include "analysis/time_to_quality.h"
#include "report/learned_curves.h"
#include "report/page.h"

namespace tbd {
namespace {

// Of one network, by title; its settings by name.
using Networks = std::map<std::string, std::map<std::string, LearnedSetting>>;

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
      LearnedSetting& setting = out[attempt->network][attempt->setting];
      setting.name = attempt->setting;
      setting.seeds.push_back({std::move(*attempt), losses_of(*cell.record)});
    }
  return out;
}

std::vector<const LearnedCurve*> curves_of(const std::map<std::string, LearnedSetting>& settings) {
  std::vector<const LearnedCurve*> curves;
  for (const auto& [name, setting] : settings)
    for (const LearnedCurve& curve : setting.seeds) curves.push_back(&curve);
  return curves;
}

Table times_of(const Networks& networks) {
  std::vector<Attempt> attempts;
  for (const auto& [network, settings] : networks)
    for (const LearnedCurve* curve : curves_of(settings)) attempts.push_back(curve->attempt);
  return time_to_quality_table(attempts);
}

std::set<std::string> metrics_of(const std::map<std::string, LearnedSetting>& settings) {
  std::set<std::string> names;
  for (const LearnedCurve* curve : curves_of(settings))
    for (const EvaluationRow& row : curve->attempt.rows)
      for (const auto& [name, value] : row.metrics) names.insert(name);
  return names;
}

Table table_of(const std::string& network, const std::map<std::string, LearnedSetting>& settings) {
  const std::set<std::string> metrics = metrics_of(settings);
  Table table{.title = cat("Learned: ", network),
              .columns = {{"training", "training"},
                          {"seed", "seed", Unit::count},
                          {"step", "step", Unit::count},
                          {"samples", "samples", Unit::count},
                          {"training_seconds", "training time", Unit::seconds},
                          {"training_loss", "training loss"}}};
  for (const std::string& metric : metrics) table.columns.push_back({metric, metric});
  for (const LearnedCurve* curve : curves_of(settings))
    for (const EvaluationRow& row : curve->attempt.rows) {
      std::vector<TableCell> cells = {curve->attempt.setting,
                                      static_cast<int64_t>(curve->attempt.seed),
                                      row.step,
                                      row.step * curve->attempt.samples_per_step,
                                      row.training_seconds,
                                      cell(row.training_loss)};
      for (const std::string& metric : metrics) {
        const auto found = row.metrics.find(metric);
        cells.push_back(cell(found == row.metrics.end() ? std::nullopt : std::optional(found->second)));
      }
      table.rows.push_back(std::move(cells));
    }
  return table;
}

struct AxisWords {
  LearnedAxis axis;
  const char *id, *against, *title;
};
constexpr AxisWords kLearnedAxes[] = {{LearnedAxis::steps, "steps", "steps", "step"},
                                      {LearnedAxis::samples, "samples", "samples", "samples trained on"},
                                      {LearnedAxis::seconds, "time", "training time", "training time, s"}};
constexpr const char* kOverSeeds = " Of several seeds the mean, and shaded what they span";

void add_charts(const std::string& network, const std::map<std::string, LearnedSetting>& settings, size_t number,
                Page& page) {
  Chart loss{.id = cat("learned-loss-", number),
             .title = network + ": training loss",
             .x_title = "step",
             .y_title = "loss",
             .caption = cat("Of the batches that were trained on, averaged where there are many.", kOverSeeds, "."),
             .mark = Mark::lines,
             .table = page.tables.back()};
  for (const auto& [name, setting] : settings) loss.series.push_back(learned_loss(setting));
  if (span_a_decade(loss.series)) loss.logarithmic = Logarithmic::y;
  page.charts.push_back(std::move(loss));
  size_t metric_number = 0;
  for (const std::string& metric : metrics_of(settings)) {
    ++metric_number;
    for (const AxisWords& words : kLearnedAxes) {
      Chart chart{.id = cat("learned-", number, "-", metric_number, "-", words.id),
                  .title = cat(network, ": ", metric, " against ", words.against),
                  .x_title = words.title,
                  .y_title = metric,
                  .caption = cat("On the held-out part of the data set, or in matches.", kOverSeeds,
                                 "; a training that has ended keeps its last value."),
                  .mark = Mark::lines};
      for (const auto& [name, setting] : settings)
        if (ChartSeries series = learned_metric(setting, metric, words.axis); !series.x.empty())
          chart.series.push_back(std::move(series));
      if (less_is_better(metric) && span_a_decade(chart.series)) chart.logarithmic = Logarithmic::y;
      page.charts.push_back(std::move(chart));
    }
  }
}

void show(Table table, Page& page) {
  page.html += to_html(table);
  page.tables.push_back(std::move(table));
}

// Of a training by self-play: what it played, and how strong it was found.
void add_self_play(const Record& record, Page& page) {
  const std::vector<GenerationRow> generations = read_generations(record.folder);
  if (generations.empty()) return;
  const std::string name = record.folder.filename().string();
  show(generations_table(cat("Self-play of ", name), generations), page);
  show(matches_table(cat("Matches of ", name), read_matches(record.folder)), page);
}

}  // namespace

Page learning_page(std::span<const ReportCell> cells) {
  Page page{.id = "learned", .title = "Learned"};
  const Networks networks = networks_of(cells);
  if (networks.empty()) return page;
  page.html =
      "<p>Trainings to a result: the loss of what was trained on, and metrics of the held-out part of the data set, or "
      "of matches where a network learns from games against itself. "
      "Frameworks and seeds of one network are laid over each other.</p>\n";
  if (Table times = times_of(networks); !times.rows.empty()) show(std::move(times), page);
  size_t number = 0;
  for (const auto& [network, settings] : networks) {
    page.tables.push_back(table_of(network, settings));
    add_charts(network, settings, ++number, page);
  }
  for (const ReportCell& cell : cells) add_self_play(*cell.record, page);
  return page;
}

}  // namespace tbd
