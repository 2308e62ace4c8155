// What time budgets left out of plans, and the commands that measure it.
#include "report/explained.h"
#include "report/page.h"

namespace tbd {

Page left_out_page(const Content& content) {
  Page page{.id = "left-out", .title = "Left out"};
  for (const LeftOut& set : content.left_out) {
    if (set.cells.empty()) continue;
    Table table{.title = "Cells that a time budget left out"};
    if (set.budget_seconds) table.title += cat(" (", format_seconds(*set.budget_seconds), ")");
    table.columns = {{"cell", "cell"},
                     {"predicted_seconds", "predicted to take", Unit::seconds},
                     {"reason", "why"},
                     {"repro", "to measure it"}};
    for (const LeftOutCell& each : set.cells)
      table.rows.push_back({each.cell, each.predicted_seconds, each.reason, each.repro});
    page.html += cat("<p>", set.cells.size(), set.cells.size() == 1 ? " cell" : " cells",
                     " of the plan were not measured: the budget was spent on those that are evidence for most of the "
                     "paper's observations.</p>\n",
                     folded_table(table, table.title));
    page.tables.push_back(std::move(table));
  }
  return page;
}

}  // namespace tbd
