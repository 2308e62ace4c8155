#include "report/chart.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"
#include "report/explained.h"

namespace tbd {
namespace {

// A picture needs no more digits, and the CSV has them all. What is not finite cannot be drawn.
Json drawn_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.7g", value);
  const double rounded = std::strtod(digits, nullptr);
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e9) return static_cast<int64_t>(rounded);
  return rounded;
}

Json numbers(const std::vector<std::optional<double>>& values) {
  Json list = Json::array();
  for (const std::optional<double>& value : values) list.push_back(value ? drawn_number(*value) : Json(nullptr));
  return list;
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(drawn_number(value));
  return list;
}

Json series_json(const ChartSeries& series) {
  Json json = {{"name", series.name}, {"role", series.role}, {"y", numbers(series.y)}};
  if (series.labels.empty())
    json["x"] = numbers(series.x);
  else
    json["labels"] = series.labels;
  if (!series.groups.empty()) json["groups"] = series.groups;
  if (series.color) json["color"] = *series.color;
  if (series.dashed) json["dashed"] = true;
  if (series.square) json["square"] = true;
  if (!series.low.empty()) {
    json["low"] = numbers(series.low);
    json["high"] = numbers(series.high);
  }
  if (!series.text.empty()) json["text"] = series.text;
  return json;
}

constexpr const char* kMarks[] = {"bars", "points", "lines", "stacks", "areas", "curves", "columns", "groups"};
constexpr const char* kLogarithmic[] = {"none", "y", "both"};

}  // namespace

Json to_json(const Chart& chart) {
  Json json = {{"id", chart.id},
               {"title", chart.title},
               {"x_title", chart.x_title},
               {"y_title", chart.y_title},
               {"mark", kMarks[static_cast<size_t>(chart.mark)]},
               {"from_zero", chart.from_zero},
               {"logarithmic", kLogarithmic[static_cast<size_t>(chart.logarithmic)]},
               {"series", Json::array()},
               {"bands", Json::array()},
               {"order", chart.order},
               {"csv", to_csv(chart.data.columns.empty() ? chart.table : chart.data)}};
  for (const ChartSeries& series : chart.series) json["series"].push_back(series_json(series));
  for (const Band& band : chart.bands)
    json["bands"].push_back({{"begin", band.begin}, {"end", band.end}, {"label", band.label}});
  if (chart.level) {
    json["level"] = *chart.level;
    json["level_name"] = chart.level_name;
  }
  return json;
}

std::string to_figure(const Chart& chart) {
  return cat("<figure>\n<h3>", html_escaped(chart.title), "</h3>\n<div class=\"plot\" id=\"", chart.id,
             "\" role=\"img\" aria-label=\"", html_escaped(chart.title), "\"></div>\n<figcaption>",
             html_escaped(chart.caption), definition_link(chart.metric),
             "</figcaption>\n<details><summary>Table</summary>\n", explained_html(chart.table),
             "</details>\n<button type=\"button\" class=\"csv\" data-chart=\"", chart.id,
             "\">Download CSV</button>\n</figure>\n");
}

}  // namespace tbd
