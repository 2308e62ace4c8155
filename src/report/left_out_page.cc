// What the report has to do without: cells that time budgets left out of plans, with the commands that measure them,
// records that cannot be read, and samples of data sets that were left out or made to fit.
#include <map>

#include "base/json.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {

namespace {

void add_cells(Page& page, const LeftOut& set) {
  Table table{.title = "Workloads that a time budget left out"};
  if (set.budget_seconds) table.title += cat(" (", format_seconds(*set.budget_seconds), ")");
  table.columns = {{"cell", "workload"},
                   {"predicted_seconds", "predicted to take", Unit::seconds},
                   {"reason", "why"},
                   {"repro", "to measure it"}};
  for (const LeftOutCell& each : set.cells)
    table.rows.push_back({each.cell, each.predicted_seconds, each.reason, each.repro});
  page.html += cat("<p>", set.cells.size(), set.cells.size() == 1 ? " workload" : " workloads",
                   " of the plan were not measured: the budget was spent on those that are evidence for most of the "
                   "paper's observations.</p>\n",
                   folded_table(table, table.title));
  page.tables.push_back(std::move(table));
}

void add_unreadable(Page& page, const LeftOut& set) {
  Table table{.title = "Records that cannot be read", .columns = {{"record", "record"}, {"reason", "why"}}};
  for (const UnreadableRecord& each : set.unreadable) table.rows.push_back({each.folder, each.reason});
  page.html += cat("<p>Nothing on this page counts ", set.unreadable.size() == 1 ? "this record" : "these records",
                   ".</p>\n", to_html(table));
  page.tables.push_back(std::move(table));
}

// What the last launch that read files says of them.
std::vector<std::string> data_notes(const Record& record) {
  std::vector<std::string> notes;
  for (const Launch& launch : record.launches) {
    const std::optional<Json> data = maybe<Json>(launch.info.host, "data");
    if (!data) continue;
    notes = maybe<std::vector<std::string>>(*data, "notes").value_or(std::vector<std::string>());
    const int64_t bad = maybe<int64_t>(*data, "bad_file_count").value_or(0);
    if (bad > 0) notes.push_back(cat(grouped(bad), bad == 1 ? " file" : " files", " could not be used"));
  }
  return notes;
}

// Workloads that read the same files say the same.
void add_samples(Page& page, std::span<const ReportCell> cells) {
  std::map<std::string, std::vector<std::string>> workloads;  // by note
  for (const ReportCell& cell : cells)
    for (const std::string& note : data_notes(*cell.record)) workloads[note].push_back(cell.label);
  if (workloads.empty()) return;
  Table table{.title = "Samples left out or made to fit", .columns = {{"what", "what"}, {"cell", "workload"}}};
  for (const auto& [note, labels] : workloads)
    table.rows.push_back({note, labels.size() == 1 ? labels[0] : cat(labels[0], " and ", labels.size() - 1, " more")});
  page.html += to_html(table);
  page.tables.push_back(std::move(table));
}

}  // namespace

Page left_out_page(const Content& content) {
  Page page{.id = "left-out", .title = "Left out"};
  for (const LeftOut& set : content.left_out) {
    if (!set.cells.empty()) add_cells(page, set);
    if (!set.unreadable.empty()) add_unreadable(page, set);
  }
  add_samples(page, content.cells);
  return page;
}

}  // namespace tbd
