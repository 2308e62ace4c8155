#include "report/chart.h"

namespace tbd {
namespace {

Json numbers(const std::vector<std::optional<double>>& values) {
  Json list = Json::array();
  for (const std::optional<double>& value : values) list.push_back(or_null(value));
  return list;
}

Json to_json(const ChartSeries& series) {
  Json json = {{"name", series.name}, {"role", series.role}, {"y", numbers(series.y)}};
  if (series.labels.empty())
    json["x"] = series.x;
  else
    json["labels"] = series.labels;
  if (!series.low.empty()) {
    json["low"] = numbers(series.low);
    json["high"] = numbers(series.high);
  }
  if (!series.text.empty()) json["text"] = series.text;
  return json;
}

constexpr const char* kMarks[] = {"bars", "points", "lines", "stacks", "areas"};

}  // namespace

Json to_json(const Chart& chart) {
  Json json = {{"id", chart.id},
               {"title", chart.title},
               {"x_title", chart.x_title},
               {"y_title", chart.y_title},
               {"mark", kMarks[static_cast<size_t>(chart.mark)]},
               {"from_zero", chart.from_zero},
               {"logarithmic", chart.logarithmic},
               {"series", Json::array()},
               {"bands", Json::array()},
               {"order", chart.order},
               {"csv", to_csv(chart.data)}};
  for (const ChartSeries& series : chart.series) json["series"].push_back(to_json(series));
  for (const Band& band : chart.bands)
    json["bands"].push_back({{"begin", band.begin}, {"end", band.end}, {"label", band.label}});
  if (chart.level) json["level"] = *chart.level;
  return json;
}

std::string to_figure(const Chart& chart) {
  return cat("<figure>\n<h3>", html_escaped(chart.title), "</h3>\n<div class=\"plot\" id=\"", chart.id,
             "\" role=\"img\" aria-label=\"", html_escaped(chart.title), "\"></div>\n<figcaption>",
             html_escaped(chart.caption), "</figcaption>\n<details><summary>Table</summary>\n", to_html(chart.table),
             "</details>\n<button type=\"button\" class=\"csv\" data-chart=\"", chart.id,
             "\">Download CSV</button>\n</figure>\n");
}

}  // namespace tbd
