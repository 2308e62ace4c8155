// The verdict first: a card a cell, the input verdict, then the whole table.
#include "analysis/framework_groups.h"
#include "analysis/input_verdict.h"
#include "report/page.h"

namespace tbd {
namespace {

constexpr size_t kMostCards = 12;

std::string big_number(const CellResult& cell) {
  const Measured& x = cell["throughput"];
  if (!x.value) return "<p class=\"big none\">no number</p>";
  const std::string unit = cell.workload.unit.empty() ? "units" : cell.workload.unit;
  return cat("<p class=\"big\">", html_escaped(significant(*x.value, 4)), " <span>", html_escaped(unit),
             "/s</span></p>");
}

std::string interval_line(const CellResult& cell) {
  const Measured& x = cell["throughput"];
  if (!x.value) return html_escaped(x.reason);
  if (!x.low || !x.high) return "no interval: too few steps";
  return cat("95 % interval ", significant(*x.low, 4), " … ", significant(*x.high, 4), ", n\u00a0=\u00a0", cell.steps);
}

void add_fact(std::string& html, const CellResult& cell, std::string_view id, std::string_view title) {
  const Metric& m = metric(id);
  const Measured& value = cell[id];
  html += cat("<div><dt>", title, "</dt><dd");
  if (!value.value) html += cat(" title=\"", html_escaped(value.reason), "\"");
  html += cat(">", html_escaped(human(tbd::cell(value.value), m.unit)), "</dd></div>");
}

std::string card(const ReportCell& cell) {
  const Judgement& judgement = cell.result.judgement;
  const bool ok = judgement.outcome.kind == OutcomeKind::ok;
  const std::string badge = ok ? judgement.grade : std::string(name(judgement.outcome.kind));
  std::string html = cat("<article class=\"card\"><header><h3>", html_escaped(cell.label), "</h3><span class=\"badge ",
                         ok ? "good" : "bad", "\">", html_escaped(badge), "</span></header>", big_number(cell.result),
                         "<p class=\"sub\">", interval_line(cell.result), "</p><dl>");
  add_fact(html, cell.result, "step_time_median", "step, median");
  add_fact(html, cell.result, "step_time_p95", "step, p95");
  add_fact(html, cell.result, "mfu", "of measured peak");
  add_fact(html, cell.result, "cpu_utilization", "CPU");
  add_fact(html, cell.result, "peak_rss_bytes", "peak memory");
  add_fact(html, cell.result, "stable_from_step", "stable from step");
  html += "</dl>";
  if (!ok && cell.result["throughput"].reason != judgement.outcome.reason)
    html += cat("<p class=\"note\">", html_escaped(judgement.outcome.reason), "</p>");
  if (!judgement.flags.empty())
    html += cat("<p class=\"note\">Flags: ", html_escaped(join(judgement.flags, ", ")), "</p>");
  return html + "</article>\n";
}

std::string verdict_line(const InputPair& pair) {
  const Workload& w = pair.pipeline->workload;
  std::string numbers;
  const Quotient& q = pair.ratio;
  if (q.value) numbers = cat("pipeline / resident = ", significant(*q.value, 4));
  if (q.low && q.high) numbers += cat(" (", significant(*q.low, 4), " … ", significant(*q.high, 4), ")");
  const Measured& wait = (*pair.pipeline)["input_wait"];
  if (wait.value) numbers += cat(numbers.empty() ? "" : ", ", "waiting ", format_percent(*wait.value), " of the time");
  return cat("<li><strong>", html_escaped(cat(w.model, " ", w.framework, " ", w.precision, " batch ", w.batch)), ": ",
             name(pair.verdict), "</strong> – ", sentence(pair.verdict), numbers.empty() ? "" : "; ", numbers,
             ".</li>\n");
}

// Compared rows, then those that stand apart.
void add_frameworks(Page& page, std::span<const CellResult> results) {
  const std::vector<FrameworkGroup> groups = framework_groups(results);
  if (groups.empty()) return;
  for (Table table : {comparison_table(groups), apart_table(groups)}) {
    if (table.rows.empty()) continue;
    page.html += to_html(table);
    page.tables.push_back(std::move(table));
  }
  page.html += cat("<p>", html_escaped(mode_sentence(groups)), "</p>\n");
}

}  // namespace

Page summary_page(std::span<const ReportCell> cells) {
  Page page{.id = "summary", .title = "Summary"};
  if (cells.size() <= kMostCards) {
    page.html += "<div class=\"cards\">\n";
    for (const ReportCell& cell : cells) page.html += card(cell);
    page.html += "</div>\n";
  }
  std::vector<CellResult> results;
  for (const ReportCell& cell : cells) results.push_back(cell.result);
  Table table = results_table(results);
  const std::vector<InputPair> pairs = input_pairs(results);
  if (!pairs.empty()) {
    page.html += "<h3>Is the input the limit?</h3>\n<ul class=\"verdicts\">\n";
    for (const InputPair& pair : pairs) page.html += verdict_line(pair);
    page.html += "</ul>\n";
  }
  add_frameworks(page, results);
  page.html += "<h3>All cells</h3>\n" + to_html(table);
  table.title = "Results";
  page.tables.push_back(std::move(table));
  if (!pairs.empty()) {
    page.tables.push_back(input_table(pairs));
    page.tables.back().title = "Is the input the limit?";
  }
  return page;
}

}  // namespace tbd
