// The machine and software of each record; shown once where records agree.
#include <algorithm>

#include "report/page.h"

namespace tbd {
namespace {

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::string> parts;
  for (const Json& part : value) parts.push_back(text_of(part));
  return join(parts, ", ");
}

void flatten(const Json& value, const std::string& path, std::vector<std::pair<std::string, std::string>>& out) {
  if (!value.is_object()) return out.emplace_back(path, value.is_null() ? "–" : text_of(value)), void();
  for (const auto& [key, inner] : value.items()) flatten(inner, path.empty() ? key : path + "." + key, out);
}

Table environment_table(const Json& environment) {
  Table table;
  table.columns = {{"field", "field"}, {"value", "value"}};
  std::vector<std::pair<std::string, std::string>> fields;
  flatten(environment, "", fields);
  for (auto& [field, value] : fields) table.rows.push_back({std::move(field), std::move(value)});
  return table;
}

void add_rates(Table& table, const std::string& label, const Json& peaks, const std::string& roof) {
  const std::optional<Json> rates = maybe<Json>(peaks, roof);
  if (!rates || !rates->is_object()) return;
  for (const auto& [type, rate] : rates->items())
    if (rate.is_number()) table.rows.push_back({label, cat(roof, " ", type), rate.get<double>()});
}

Table peak_table(std::span<const ReportCell> cells) {
  Table table{.title = "Measured peaks"};
  table.columns = {{"cell", "cell"}, {"roof", "roof"}, {"rate", "rate", Unit::flop_rate}};
  for (const ReportCell& cell : cells) {
    add_rates(table, cell.label, cell.record->run.peaks, "isa");
    add_rates(table, cell.label, cell.record->run.peaks, "gemm");
  }
  return table;
}

// Cells by their environment, in the order of their first.
std::vector<std::pair<const Json*, std::vector<std::string>>> grouped_environments(std::span<const ReportCell> cells) {
  std::vector<std::pair<const Json*, std::vector<std::string>>> groups;
  for (const ReportCell& cell : cells) {
    const Json* own = &cell.record->run.environment;
    auto group = std::ranges::find_if(groups, [&](const auto& g) { return *g.first == *own; });
    if (group == groups.end()) group = groups.insert(groups.end(), {own, {}});
    group->second.push_back(cell.label);
  }
  return groups;
}

}  // namespace

Page environment_page(std::span<const ReportCell> cells) {
  Page page{.id = "environment", .title = "Environment"};
  const auto groups = grouped_environments(cells);
  if (groups.size() > 1)
    page.html += cat("<p class=\"note\">The cells were measured in ", groups.size(),
                     " different environments: compare them with care.</p>\n");
  for (const auto& [environment, labels] : groups) {
    Table table = environment_table(*environment);
    const std::string whose = groups.size() == 1 ? "All cells" : join(labels, "; ");
    page.html += cat("<details", groups.size() == 1 ? " open" : "", "><summary>", html_escaped(whose), "</summary>\n",
                     to_html(table), "</details>\n");
    table.title = "Environment: " + whose;
    page.tables.push_back(std::move(table));
  }
  const Table peaks = peak_table(cells);
  if (!peaks.rows.empty()) {
    page.html += to_html(peaks);
    page.tables.push_back(peaks);
  }
  return page;
}

}  // namespace tbd
