// What the paper and its project site printed, beside these records.
#include "analysis/then/then_and_now.h"
#include "report/page.h"

namespace tbd {

Page then_page(std::span<const ReportCell> cells) {
  Page page{.id = "then-and-now", .title = "Then and now"};
  if (cells.empty()) return page;
  std::vector<ThenCell> asked;
  for (const ReportCell& cell : cells) asked.push_back({cell.record, &cell.result});
  page.tables.push_back(then_table(then_and_now(asked)));
  page.html = cat(
      "<p>Numbers that the paper (Zhu et al. 2018), its project site or its repository printed, beside these records. "
      "The devices differ – GPUs of 2017 and 2018 there, the device named in each row here – and so do networks and "
      "frameworks: a ratio is no ranking.</p>\n",
      to_html(page.tables.back()));
  return page;
}

}  // namespace tbd
