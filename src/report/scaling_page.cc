// Several workers against one: throughput over workers, a chart for each row of one worker, and what the efficiencies
// are made of. As the scaling figure of Zhu et al. 2018.
#include <algorithm>
#include <map>

#include "analysis/scaling.h"
#include "record/axes.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {
namespace {

using Points = std::map<int64_t, const CellResult*>;  // by workers

std::string way_of(const MeasuredWorkload& workload) {
  return cat(exchange_words(workload), workload.link.empty() ? "" : cat(" over ", workload.link));
}

ChartSeries series_of(const std::string& name, const Points& points) {
  ChartSeries series{.name = name};
  for (const auto& [workers, cell] : points) {
    const Measured& x = (*cell)["throughput"];
    series.x.push_back(static_cast<double>(workers));
    series.y.push_back(x.value);
    series.low.push_back(x.low);
    series.high.push_back(x.high);
  }
  const auto has_no_end = [](const std::optional<double>& end) { return !end; };
  if (std::ranges::any_of(series.low, has_no_end) || std::ranges::any_of(series.high, has_no_end)) {
    series.low.clear();
    series.high.clear();
  }
  return series;
}

ChartSeries ideal_of(const CellResult& one, int64_t most) {
  ChartSeries series{.name = "as many times that of one", .role = "roof", .dashed = true};
  for (int64_t workers = 1; workers <= most; ++workers) {
    series.x.push_back(static_cast<double>(workers));
    series.y.push_back(static_cast<double>(workers) * *one["throughput"].value);
  }
  return series;
}

Chart chart_of(const CellResult& one, const std::map<std::string, Points>& ways, int number) {
  const MeasuredWorkload& w = one.workload;
  Chart chart{.id = cat("scaling-", number),
              .title = cat(w.model, " ", w.framework, " ", w.precision, ", batch ", w.batch, " of each worker, ",
                           find_axis("threads")->label.around(cat(w.threads))),
              .x_title = "workers",
              .y_title = cat(w.unit, "/s of all"),
              .caption =
                  "Constant batch per worker (weak scaling), as many cores for each. Lines at the points: 95 % "
                  "intervals.",
              .metric = "scaling_efficiency",
              .mark = Mark::curves,
              .from_zero = true};
  int64_t most = 1;
  chart.table.columns = {{"way", "exchange"},
                         {"workers", "workers", Unit::count},
                         {"throughput", cat(w.unit, "/s"), Unit::per_second},
                         {"low", "95 % from", Unit::per_second},
                         {"high", "to", Unit::per_second}};
  for (const auto& [name, points] : ways) {
    chart.series.push_back(series_of(name, points));
    for (const auto& [workers, each] : points) {
      const Measured& x = (*each)["throughput"];
      chart.table.rows.push_back({name, workers, cell(x.value), cell(x.low), cell(x.high)});
      most = std::max(most, workers);
    }
  }
  chart.series.push_back(ideal_of(one, most));
  return chart;
}

// Of one machine.
void add_scaling(Page& page, std::span<const CellResult> results) {
  const std::vector<Scaling> all = scalings(results);
  if (all.empty()) return;
  std::map<const CellResult*, std::map<std::string, Points>> charts;
  for (const Scaling& each : all) {
    if (each.strong || !each.undecided.empty() || !(*each.one)["throughput"].value) continue;
    Points& points = charts[each.one][way_of(each.several->workload)];
    points[1] = each.one;
    points[each.several->workload.workers] = each.several;
  }
  for (const CellResult& one : results)
    if (const auto found = charts.find(&one); found != charts.end())
      page.charts.push_back(chart_of(one, found->second, static_cast<int>(page.charts.size()) + 1));
  Table table = scaling_table(all);
  page.below += explained_html(table);
  page.tables.push_back(std::move(table));
}

}  // namespace

Page scaling_page(std::span<const ReportCell> cells) {
  Page page{.id = "scaling", .title = "Scaling over workers"};
  for (const std::vector<CellResult>& results : by_machine(cells)) add_scaling(page, results);
  return page.tables.empty() ? Page() : page;
}

}  // namespace tbd
