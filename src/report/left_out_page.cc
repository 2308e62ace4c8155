// What the report has to do without: cells that time budgets left out of plans, with the commands that measure them,
// and records that cannot be read.
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

}  // namespace

Page left_out_page(const Content& content) {
  Page page{.id = "left-out", .title = "Left out"};
  for (const LeftOut& set : content.left_out) {
    if (!set.cells.empty()) add_cells(page, set);
    if (!set.unreadable.empty()) add_unreadable(page, set);
  }
  return page;
}

}  // namespace tbd
