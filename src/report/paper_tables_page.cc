// The paper's tables by number, and its two drawings, made from the records.
#include "analysis/then/paper_tables.h"

#include "analysis/then/prior_work.h"
#include "report/page.h"
#include "report/paper_figures.h"

namespace tbd {
namespace {

// Of the first network whose record lists its ops.
std::string figures(std::span<const Record* const> records) {
  std::string html = cat("<h3>From network to report (figure 3)</h3>\n", pipeline_figure(records));
  for (const Record* record : records) {
    const std::string flow = training_flow_figure(record->run);
    if (flow.empty()) continue;
    return cat("<h3>A training step of ", html_escaped(record->run.workload.model),
               " (figure 1)</h3>\n<p>Stages of the network with their share of the FLOPs that a step's products "
               "need.</p>\n",
               flow, html);
  }
  return html;
}

}  // namespace

Page paper_tables_page(std::span<const ReportCell> cells) {
  Page page{.id = "paper-tables", .title = "The paper's tables"};
  if (cells.empty()) return page;
  std::vector<const Record*> records;
  for (const ReportCell& cell : cells) records.push_back(cell.record);
  page.tables = {prior_work_table(), benchmarks_table(records), datasets_table(records), hardware_table(records)};
  for (Table& table : longest_kernel_tables(records)) page.tables.push_back(std::move(table));
  std::erase_if(page.tables, [](const Table& table) { return table.rows.empty(); });
  page.html = "<p>The tables of the paper (Zhu et al. 2018) under their numbers, from these records.</p>\n";
  page.html += figures(records);
  for (const Table& table : page.tables) page.html += to_html(table);
  return page;
}

}  // namespace tbd
