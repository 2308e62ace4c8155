// The machine and software of each record; shown once where records agree.
#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "record/environment_fields.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

Table environment_table(const Fields& fields) {
  Table table;
  table.columns = {{"field", "field"}, {"value", "value"}};
  for (const auto& [field, value] : fields) table.rows.push_back({field, value});
  return table;
}

// What is other than in the first, and what is not there at all.
Table difference_table(const Fields& first, const Fields& fields) {
  Fields differing;
  const std::set<std::pair<std::string, std::string>> known(first.begin(), first.end());
  std::set<std::string> own;
  for (const auto& each : fields) {
    own.insert(each.first);
    if (!known.contains(each)) differing.push_back(each);
  }
  for (const auto& [field, value] : first)
    if (!own.contains(field)) differing.emplace_back(field, "–");
  Table table = environment_table(differing);
  table.notes = {"Only what differs from the first environment."};
  return table;
}

void add_rates(Table& table, const std::string& label, const Json& peaks, const std::string& roof) {
  const std::optional<Json> rates = maybe<Json>(peaks, roof);
  if (!rates || !rates->is_object()) return;
  for (const auto& [type, rate] : rates->items())
    if (rate.is_number()) table.rows.push_back({label, cat(roof, " ", type), rate.get<double>()});
}

Table rates_table(std::span<const ReportCell> cells) {
  Table table{.title = "Measured peaks"};
  table.columns = {{"cell", "workload"}, {"roof", "roof"}, {"rate", "rate", Unit::flop_rate}};
  for (const ReportCell& cell : cells) {
    add_rates(table, cell.label, cell.record->run.peaks, "isa");
    add_rates(table, cell.label, cell.record->run.peaks, "gemm");
  }
  return table;
}

// Cells by their environment, in the order of their first.
std::vector<std::pair<Fields, std::vector<std::string>>> grouped_environments(std::span<const ReportCell> cells) {
  std::vector<std::pair<Fields, std::vector<std::string>>> groups;
  std::map<Fields, size_t> known;
  for (const ReportCell& cell : cells) {
    const Fields own = environment_fields(cell.record->run.environment);
    const auto [at, is_new] = known.emplace(own, groups.size());
    if (is_new) groups.emplace_back(own, std::vector<std::string>());
    groups[at->second].second.push_back(cell.label);
  }
  return groups;
}

// The first few names and how many more.
std::string whose_of(const std::vector<std::string>& labels) {
  constexpr size_t kNamed = 4;
  if (labels.size() <= kNamed) return join(labels, "; ");
  return cat(join(std::span(labels).first(kNamed - 1), "; "), " and ", labels.size() - kNamed + 1, " more");
}

}  // namespace

Page environment_page(std::span<const ReportCell> cells) {
  Page page{.id = "environment", .title = "Environment"};
  const auto groups = grouped_environments(cells);
  if (groups.size() > 1)
    page.html += cat("<p class=\"note\">The workloads were measured in ", groups.size(),
                     " different environments: compare them with care.</p>\n");
  const Fields first = groups.empty() ? Fields() : groups.front().first;
  std::string folded;
  for (const auto& [environment, labels] : groups) {
    const bool is_first = &environment == &groups.front().first;
    Table table = is_first ? environment_table(first) : difference_table(first, environment);
    const std::string whose = groups.size() == 1 ? "All workloads" : whose_of(labels);
    const std::string block = cat("<details", groups.size() == 1 ? " open" : "", "><summary>", html_escaped(whose),
                                  "</summary>\n", to_html(table), "</details>\n");
    (page.tables.size() < kMostFigures ? page.html : folded) += block;
    table.title = "Environment: " + whose;
    page.tables.push_back(std::move(table));
  }
  if (!folded.empty())
    page.html += cat("<details class=\"long\"><summary>", groups.size() - kMostFigures,
                     " further environments</summary>\n", folded, "</details>\n");
  const Table peaks = rates_table(cells);
  if (!peaks.rows.empty()) {
    page.html += folded_table(peaks, "Measured peaks");
    page.tables.push_back(peaks);
  }
  return page;
}

}  // namespace tbd
