#include "report/overview.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "report/panels.h"

namespace tbd {
namespace {

const SweepPoint* best_of(const Sweep& sweep) {
  const SweepPoint* best = nullptr;
  for (const SweepPoint& point : sweep.points)
    if (point.ran() && (!best || *point.cell["throughput"].value > *best->cell["throughput"].value)) best = &point;
  return best;
}

std::string unit_of(const Sweep& sweep) { return sweep.workload.unit.empty() ? "units" : sweep.workload.unit; }

// One matrix: what all its entries share.
struct Matrix {
  std::string title;
  std::map<std::pair<std::string, std::string>, std::vector<const Sweep*>> entries;  // of row and framework
  std::vector<std::pair<std::string, std::string>> rows;  // name, anchor of its section; in order
  std::set<std::string> columns;
};

std::string matrix_title(const Sweep& sweep, const Content& content) {
  const MeasuredWorkload& w = sweep.workload;
  std::string precision = w.precision.text();
  std::ranges::transform(precision, precision.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string title = cat(precision, ", ", w.input_mode, " input");
  if (w.device != Device::kCpu) title += cat(", ", w.device);
  const std::string machine = machine_name(content.machines, sweep.machine);
  return machine.empty() ? title : cat(title, ", ", machine);
}

std::vector<Matrix> matrices_of(const Content& content) {
  std::vector<Matrix> matrices;
  for (const ModelGroup& group : model_groups(content))
    for (const Panel& panel : group.panels)
      for (const PanelSeries& each : panel.series) {
        const MeasuredWorkload& w = each.sweep->workload;
        const std::string title = matrix_title(*each.sweep, content);
        auto matrix = std::ranges::find(matrices, title, &Matrix::title);
        if (matrix == matrices.end()) matrix = matrices.insert(matrices.end(), {.title = title});
        const std::string row = w.config.empty() || w.config == "default" || w.config == "canonical"
                                    ? group.title
                                    : cat(group.title, " ", w.config);
        if (!std::ranges::count(matrix->rows, std::pair(row, group.id))) matrix->rows.emplace_back(row, group.id);
        matrix->columns.insert(w.framework);
        matrix->entries[{row, w.framework}].push_back(each.sweep);
      }
  return matrices;
}

// What came of a sweep without any number.
std::string outcome_of(const Sweep& sweep) {
  return std::string(name(sweep.points.front().cell.judgement.outcome.kind));
}

// `told`: what tells it from the others of its place in the matrix.
std::string entry(const Sweep& sweep, std::string_view told) {
  const std::string name = told.empty() ? "" : cat(html_escaped(told), ": ");
  const SweepPoint* best = best_of(sweep);
  if (!best) return cat("<div>", name, "<span class=\"badge bad\">", html_escaped(outcome_of(sweep)), "</span></div>");
  const Judgement& judged = best->cell.judgement;
  std::string marks = judged.grade;
  if (sweep.points.size() > 1) marks = cat("batch ", best->batch, marks.empty() ? "" : " · ", marks);
  if (!judged.flags.empty())
    marks += cat(" · <abbr title=\"", html_escaped(join(judged.flags, ", ")), "\">", judged.flags.size(),
                 judged.flags.size() == 1 ? " flag</abbr>" : " flags</abbr>");
  return cat("<div>", name, "<strong>", html_escaped(significant(*best->cell["throughput"].value, 4)), "</strong> ",
             html_escaped(unit_of(sweep)), "/s<br><span class=\"sub\">", marks, "</span></div>");
}

std::string entries_html(const std::vector<const Sweep*>& sweeps) {
  const std::vector<std::string> names = told_apart(sweeps, std::vector<std::string>(sweeps.size()));
  std::string html;
  for (size_t i = 0; i < sweeps.size(); ++i) html += entry(*sweeps[i], trim(names[i]));
  return html;
}

std::string matrix_html(const Matrix& matrix) {
  std::string html = cat("<div class=\"scroll\"><table class=\"matrix\"><caption>", html_escaped(matrix.title),
                         "</caption>\n<thead><tr><th scope=\"col\">model</th>");
  for (const std::string& column : matrix.columns) html += cat("<th scope=\"col\">", html_escaped(column), "</th>");
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& [row, anchor] : matrix.rows) {
    html += cat("<tr><th scope=\"row\"><a href=\"#", anchor, "\">", html_escaped(row), "</a></th>");
    for (const std::string& column : matrix.columns) {
      const auto found = matrix.entries.find({row, column});
      html += "<td>";
      html += found == matrix.entries.end() ? "–" : entries_html(found->second);
      html += "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string overview_matrices(const Content& content) {
  std::string html;
  for (const Matrix& matrix : matrices_of(content)) html += matrix_html(matrix);
  return html;
}

Table overview_table(const Content& content) {
  Table table{.title = "Best throughput of each model and framework"};
  table.columns = {{"model", "model"},
                   {"config", "config"},
                   {"framework", "framework"},
                   {"mode", "mode"},
                   {"precision", "precision"},
                   {"input_mode", "input"},
                   {"machine", "machine"},
                   {"batches", "batches", Unit::count},
                   {"batch", "best batch", Unit::count},
                   {"throughput", "units/s", Unit::per_second},
                   {"low", "95 % from", Unit::per_second},
                   {"high", "to", Unit::per_second},
                   {"unit", "unit"},
                   {"grade", "grade"},
                   {"flags", "flags"},
                   {"outcome", "outcome"},
                   {"record_hash", "record"}};
  for (const Sweep& sweep : content.sweeps) {
    const MeasuredWorkload& w = sweep.workload;
    const SweepPoint* best = best_of(sweep);
    const SweepPoint& shown = best ? *best : sweep.points.front();
    const Measured& x = shown.cell["throughput"];
    const Judgement& judged = shown.cell.judgement;
    table.rows.push_back({w.model, w.config, cat(w.framework, " ", w.framework_version), w.mode.text(),
                          w.precision.text(), w.input_mode.text(), sweep.machine,
                          static_cast<int64_t>(sweep.points.size()), shown.batch, cell(x.value), cell(x.low),
                          cell(x.high), unit_of(sweep), judged.grade.empty() ? TableCell() : TableCell(judged.grade),
                          judged.flags.empty() ? TableCell() : TableCell(join(judged.flags, ", ")),
                          std::string(name(judged.outcome.kind)), shown.cell.record_hash.substr(0, 12)});
  }
  return table;
}

}  // namespace tbd
