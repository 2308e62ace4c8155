// What the records answer comes first, in sentences; report.cc sets one chart below them. The numbers follow: how well
// they close, a card a cell, the input verdict, then the whole table.
#include <algorithm>
#include <iterator>
#include <map>

#include "analysis/answers.h"
#include "analysis/evidence.h"
#include "analysis/framework_groups.h"
#include "analysis/input_verdict.h"
#include "analysis/metric_parts.h"
#include "report/closure.h"
#include "report/explained.h"
#include "report/overview.h"
#include "report/page.h"
#include "stats/effort.h"

namespace tbd {
namespace {

constexpr size_t kFewest = 4;      // cells that need no matrix
constexpr size_t kMostLines = 12;  // of a list that stays unfolded

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
  html += cat("<div><dt title=\"", html_escaped(m.what), "\">", title, "</dt><dd");
  if (!value.value) html += cat(" title=\"", html_escaped(value.reason), "\"");
  html += cat(">", html_escaped(human(tbd::cell(value.value), m.unit)), "</dd></div>");
}

std::string card(const ReportCell& cell) {
  const Judgement& judgement = cell.result.judgement;
  const bool ok = judgement.outcome.kind == OutcomeKind::ok;
  const std::string badge = ok ? judgement.grade : std::string(name(judgement.outcome.kind));
  const bool good = ok && (badge == name(Grade::published) || badge == name(Grade::development));
  const bool gpu = on_gpu(cell.record->run.workload);
  const char* colour = good ? " good" : ok && badge != name(Grade::disturbed) ? "" : " bad";
  std::string html = cat("<article class=\"card\"><header><h3>", html_escaped(cell.label), "</h3><span class=\"badge",
                         colour, "\">", html_escaped(badge), "</span></header>", big_number(cell.result),
                         "<p class=\"sub\">", interval_line(cell.result), "</p><dl>");
  add_fact(html, cell.result, "step_time_median", "step, median");
  add_fact(html, cell.result, "step_time_p95", "step, p95");
  add_fact(html, cell.result, "mfu", "of measured peak");
  if (gpu) add_fact(html, cell.result, "gpu_utilization", "GPU");
  add_fact(html, cell.result, "cpu_utilization", "CPU");
  add_fact(html, cell.result, gpu ? "gpu_memory_bytes" : "peak_rss_bytes", gpu ? "GPU memory" : "peak memory");
  if (gpu) add_fact(html, cell.result, "gpu_power", "power, W");
  add_fact(html, cell.result, "stable_from_step", "stable from step");
  html += "</dl>";
  if (!ok && cell.result["throughput"].reason != judgement.outcome.reason)
    html += cat("<p class=\"note\">", html_escaped(judgement.outcome.reason), "</p>");
  if (badge == name(Grade::disturbed))
    html += cat("<p class=\"note\">Disturbed: ", html_escaped(judgement.grade_reason), "</p>");
  if (!judgement.flags.empty())
    html += cat("<p class=\"note\">Flags: ", html_escaped(join(judgement.flags, ", ")), "</p>");
  if (cell.stands_in)
    html += cat("<p class=\"note\">Figures show another record of this workload: ", cell.stands_in->hash.substr(0, 12),
                "</p>");
  return html + "</article>\n";
}

std::string verdict_line(const InputPair& pair) {
  const MeasuredWorkload& w = pair.pipeline->workload;
  std::string numbers;
  const Quotient& q = pair.ratio;
  if (q.value) numbers = cat("pipeline / resident = ", significant(*q.value, 4));
  if (q.low && q.high) numbers += cat(" (", significant(*q.low, 4), " … ", significant(*q.high, 4), ")");
  const Measured& wait = (*pair.pipeline)["input_wait"];
  if (wait.value) numbers += cat(numbers.empty() ? "" : ", ", "waiting ", format_percent(*wait.value), " of the time");
  return cat("<li><strong>", html_escaped(cat(w.model, " ", w.framework, " ", w.precision, " batch ", w.batch)), ": ",
             name(pair.verdict), "</strong> – ", html_escaped(sentence(pair)), numbers.empty() ? "" : "; ", numbers,
             ".</li>\n");
}

// Long lists open on demand.
std::string folded(bool fold, const std::string& summary, const std::string& html) {
  return fold ? cat("<details><summary>", html_escaped(summary), "</summary>\n", html, "</details>\n") : html;
}

// Compared rows, then those that stand apart.
void add_frameworks(Page& page, std::span<const CellResult> results) {
  const std::vector<FrameworkGroup> groups = framework_groups(results);
  if (groups.empty()) return;
  for (Table table : {comparison_table(groups), apart_table(groups)}) {
    if (table.rows.empty()) continue;
    page.html +=
        folded(table.rows.size() > kMostLines, cat(table.title, ": ", table.rows.size(), " rows"), to_html(table));
    page.tables.push_back(std::move(table));
  }
  page.html += cat("<p>", html_escaped(mode_sentence(groups)), "</p>\n");
}

void add_inputs(Page& page, std::span<const CellResult> results, std::vector<Table>& tables) {
  const std::vector<InputPair> pairs = input_pairs(results);
  if (pairs.empty()) return;
  std::string list = "<ul class=\"verdicts\">\n";
  for (const InputPair& pair : pairs) list += verdict_line(pair);
  page.html += "<h3>Is the input the limit?</h3>\n" +
               folded(pairs.size() > kMostLines, cat(pairs.size(), " pairs of workloads"), list + "</ul>\n");
  tables.push_back(input_table(pairs));
  tables.back().title = "Is the input the limit?";
}

std::string answer_html(const Answer& answer) {
  const std::string command =
      answer.command.empty() ? "" : cat("<br><code class=\"try\">", html_escaped(answer.command), "</code>");
  return cat("<li>", html_escaped(answer.text), command, "</li>\n");
}

// Of each machine by itself.
std::string answers_html(const Content& content, std::span<const ReportCell> cells) {
  const std::vector<ReportCell> shown = drawn(cells);
  std::string html;
  for (const std::string& machine : content.machines) {
    std::vector<AnswerRow> rows;
    for (const ReportCell& cell : shown)
      if (cell.machine == machine) rows.push_back({&cell.result, cell.profile()});
    if (rows.empty()) continue;
    const std::string title = machine_name(content.machines, machine);
    if (!title.empty()) html += cat("<h3>", html_escaped(title), "</h3>\n");
    html += "<ul class=\"answers\">\n";
    for (const Answer& answer : answers(rows)) html += answer_html(answer);
    html += "</ul>\n";
  }
  return html;
}

void add_all_cells(Page& page, std::span<const ReportCell> cells) {
  std::vector<CellResult> results;
  for (const ReportCell& cell : cells) results.push_back(cell.result);
  Table table = results_table(results);
  page.html += "<h3>All workloads</h3>\n" +
               folded(cells.size() > kMostFigures, cat(cells.size(), " workloads"), explained_html(table));
  table.title = "Results";
  page.tables.insert(page.tables.begin(), std::move(table));
}

}  // namespace

Page summary_page(const Content& content, std::span<const ReportCell> cells) {
  Page page{.id = "summary", .title = "Summary"};
  const std::vector<ClosureRow> closure = closure_rows(content.cells);
  page.html += closure_banner(closure);
  if (cells.size() <= kMostFigures) {
    page.html += "<div class=\"cards\">\n";
    for (const ReportCell& cell : cells) page.html += card(cell);
    page.html += "</div>\n";
  }
  if (std::ranges::any_of(cells, [](const ReportCell& cell) { return cell.stands_in != nullptr; }))
    page.html += cat("<p class=\"note\">", evidence_rule(), "</p>\n");
  const bool matrix = content.sweeps.size() > 1 && cells.size() > kFewest;
  if (matrix) page.html += "<h3>Models and frameworks</h3>\n" + overview_matrices(content);
  const std::vector<std::vector<CellResult>> machines = by_machine(cells);
  std::vector<Table> further;
  for (const std::vector<CellResult>& results : machines) {
    add_inputs(page, results, further);
    add_frameworks(page, results);
  }
  add_all_cells(page, cells);
  page.tables.push_back(closure_table(closure));
  if (matrix) page.tables.push_back(overview_table(content));
  std::ranges::move(further, std::back_inserter(page.tables));
  page.below = std::move(page.html);
  page.html = answers_html(content, cells);
  return page;
}

}  // namespace tbd
