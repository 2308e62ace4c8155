// The rules as applied, what each grade and flag means, and the records with their repro lines.
#include <set>

#include "analysis/evidence.h"
#include "analysis/flags.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {
namespace {

struct Meaning {
  const char* name;
  const char* text;
};

constexpr Meaning kGrades[] = {
    {"published", "effort publish, 5 launches, an interval of at most 2 % to either side"},
    {"development", "3 launches, an interval of at most 5 % to either side"},
    {"provisional", "a wider interval, fewer launches, or smoke effort: read with its interval"},
    {"disturbed", "other work moved the number: shown, ranked only by launches that took turns"},
};

Table grade_table() {
  Table table{.title = "Grades", .columns = {{"name", "name"}, {"meaning", "meaning"}}};
  for (const Meaning& row : kGrades) table.rows.push_back({std::string(row.name), std::string(row.text)});
  return table;
}

Table flag_table(const std::set<std::string>& used) {
  Table table{.title = "Flags in this report", .columns = {{"name", "name"}, {"meaning", "meaning"}}};
  for (const Flag& flag : known_flags())
    if (used.contains(std::string(flag.name)))
      table.rows.push_back({std::string(flag.name), std::string(flag.meaning)});
  return table;
}

Table metric_table() {
  Table table{.title = "Metrics",
              .columns = {{"id", "id"}, {"metric", "metric"}, {"unit", "unit"}, {"definition", "definition"}}};
  for (const Metric& m : metrics()) {
    const std::string_view unit = symbol(m.unit);
    table.rows.push_back({std::string(m.id), std::string(m.title),
                          unit.empty() ? TableCell() : TableCell(std::string(unit)), std::string(m.what)});
  }
  for (const Definition& d : further_definitions())
    table.rows.push_back({std::string(d.id), std::string(d.title),
                          d.unit.empty() ? TableCell() : TableCell(std::string(d.unit)), std::string(d.what)});
  return table;
}

// The metrics' rows with the anchors that figures link to.
std::string metric_html(const Table& table) {
  std::string html = to_html(table);
  size_t at = 0;
  for (const auto& row : table.rows) {
    at = html.find("<tr><td", at + 1);
    if (at == std::string::npos) break;
    html.insert(at + 3, cat(" id=\"", anchor_of("metric", std::get<std::string>(row[0])), "\""));
  }
  return html;
}

Table duplicate_table(std::span<const ReportCell> cells) {
  Table table{.title = "Records of workloads that were measured more than once"};
  table.columns = {{"cell", "workload"}, {"record_hash", "record"}, {"stands_in", "figures show record"}};
  for (const ReportCell& cell : cells)
    if (cell.stands_in)
      table.rows.push_back({cell.label, cell.record->hash.substr(0, 12), cell.stands_in->hash.substr(0, 12)});
  if (!table.rows.empty()) table.notes = {std::string(evidence_rule())};
  return table;
}

Table record_table(std::span<const ReportCell> cells) {
  Table table{.title = "Records"};
  table.columns = {{"cell", "workload"},
                   {"created", "measured"},
                   {"tool", "by"},
                   {"mode", "mode"},
                   {"layout", "layout"},
                   {"allocator", "allocator"},
                   {"threads", "threads", Unit::count},
                   {"verified", "verified"},
                   {"model_hash", "model hash"},
                   {"record_hash", "record hash"},
                   {"repro", "measure again"}};
  for (const ReportCell& cell : cells) {
    const RunInfo& run = cell.record->run;
    const MeasuredWorkload& w = run.workload;
    table.rows.push_back({cell.label, run.created, run.tool, w.mode.text(), w.layout.text(), w.allocator.text(),
                          w.threads, tbd::cell(run.verified), w.model_hash.substr(0, 12),
                          cell.record->hash.substr(0, 12), w.repro});
  }
  return table;
}

std::set<std::string> used_flags(std::span<const ReportCell> cells) {
  std::set<std::string> flags;
  for (const ReportCell& cell : cells)
    flags.insert(cell.result.judgement.flags.begin(), cell.result.judgement.flags.end());
  return flags;
}

}  // namespace

Page methods_page(std::span<const ReportCell> cells) {
  Page page{.id = "methods", .title = "Methods"};
  page.html =
      "<p>Each launch is a fresh worker process. A step ends when its loss and all updated weights are there; its time "
      "is the distance of two such stamps, so the times of a window add up to its length. Timed steps carry no "
      "tracer.</p>\n"
      "<p>The stable phase is the accepted last part of the series: change points in the mean are found by optimal "
      "segmentation with a penalty on the correlated noise, then segments whose mean is within 1 % are joined from the "
      "end. A drifting series has no throughput.</p>\n"
      "<p>Intervals are the wider of ten batch means and Geyer's initial monotone sequence, which both allow for "
      "correlation between steps; with several launches also Student's t across launches, whichever is wider.</p>\n"
      "<p>FLOPs are counted from the network, one multiply-accumulate as two, and never include recomputation. Peaks "
      "are measured on the same machine with the same threads.</p>\n"
      "<p>Mode <em>eager</em> runs the framework's own operations one after the other; other modes are named where "
      "they occur. Workloads that differ in mode, input mode, layout, allocator or precision are not ranked against "
      "each "
      "other. What could not be measured is shown as a dash, never as zero.</p>\n";
  page.html +=
      "<p>Figures carry the numbers of the figures in Zhu et al. 2018 (Benchmarking and Analyzing Deep Neural Network "
      "Training, IISWC) that they correspond to; that numbering is taken from a secondary reading of the paper. "
      "Workloads "
      "of "
      "different machines, input modes, modes and math types never share a line, and nothing is averaged over "
      "records.</p>\n";
  std::vector<Table> tables = {record_table(cells), metric_table(), grade_table()};
  for (Table table : {duplicate_table(cells), flag_table(used_flags(cells))})
    if (!table.rows.empty()) tables.push_back(std::move(table));
  for (const Table& table : tables)
    page.html += table.title == "Metrics" ? metric_html(table) : folded_table(table, table.title);
  page.tables = std::move(tables);
  return page;
}

}  // namespace tbd
