#include "report/report.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "report/assets.h"
#include "report/base64.h"
#include "report/page.h"
#include "report/plotly.h"

namespace tbd {
namespace {

constexpr int kMostLinked = 4;  // models in the bar of links; more are reached from the matrix

bool is_of_time(std::string_view page) { return page == "summary" || page == "throughput" || page == "step-times"; }

// Those that were to be timed: a record of pass memory alone says nothing of speed.
std::vector<ReportCell> timed_of(std::span<const ReportCell> cells) {
  std::vector<ReportCell> timed;
  for (const ReportCell& cell : cells) {
    const std::vector<Launch>& launches = cell.record->launches;
    if (launches.empty() || std::ranges::any_of(launches, [](const Launch& l) { return l.info.pass != Pass::kMemory; }))
      timed.push_back(cell);
  }
  return timed;
}

// The first screen is the answers and one chart.
void set_first_chart(Page& summary, Page& throughput) {
  if (throughput.charts.empty()) return;
  summary.charts.push_back(std::move(throughput.charts.front()));
  throughput.charts.erase(throughput.charts.begin());
  throughput.html += cat("<p>\u201c", html_escaped(summary.charts.back().title),
                         "\u201d is <a href=\"#summary\">at the top</a>.</p>\n");
}

std::vector<Page> pages_of(const Content& content) {
  const std::span<const ReportCell> cells = content.cells;
  const std::vector<ReportCell> timed = timed_of(cells);
  const std::vector<ReportCell> best = best_first(cells);
  std::vector<Page> pages = {summary_page(content, timed)};
  if (!timed.empty()) pages.push_back(observations_page(content));
  if (!timed.empty()) std::ranges::move(model_pages(content), std::back_inserter(pages));
  for (Page& page :
       std::vector<Page>{learning_page(cells), cpu_utilization_page(content), devices_page(content), gpu_page(cells),
                         scaling_page(timed), throughput_page(timed), step_times_page(timed), profile_page(cells),
                         gap_page(timed), memory_page(cells), memory_classes_page(cells), then_page(best),
                         paper_tables_page(best), left_out_page(content), environment_page(cells), methods_page(cells)})
    pages.push_back(std::move(page));
  set_first_chart(pages.front(), *std::ranges::find(pages, "throughput", &Page::id));
  std::erase_if(pages, [&](const Page& page) {
    return (page.tables.empty() && page.html.empty() && page.charts.empty()) || (timed.empty() && is_of_time(page.id));
  });
  return pages;
}

// Only these scripts run, whatever markup there is.
std::string policy(std::string_view plotly, std::string_view script) {
  const auto source = [](std::string_view text) { return cat("'sha256-", base64(sha256(text)), "'"); };
  return cat("default-src 'none'; script-src ", source(plotly), " ", source(script),
             "; style-src 'unsafe-inline'; img-src data: blob:");
}

// JSON inside a script element must not end it.
std::string embedded(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string single_lead(const ReportCell& cell) {
  const MeasuredWorkload& w = cell.result.workload;
  const Measured& x = cell.result["throughput"];
  return cat(w.framework, " ", w.framework_version, " trains ", w.model, " in ", w.precision, " with batch ", w.batch,
             " at ", x.value ? significant(*x.value, 4) : std::string("an unknown number of"), " ", w.unit, "/s.");
}

size_t distinct(std::span<const ReportCell> cells, const auto& of) {
  std::set<std::string> seen;
  for (const ReportCell& cell : cells) seen.insert(of(cell));
  return seen.size();
}

// " for 10 models in 3 frameworks on 2 machines"; empty where there is one of each.
std::string extent(std::span<const ReportCell> cells) {
  const size_t models = distinct(cells, [](const ReportCell&c) { return c.record->run.workload.model; }),
               frameworks = distinct(cells, [](const ReportCell&c) { return c.record->run.workload.framework; }),
               machines = distinct(cells, [](const ReportCell&c) { return c.machine; });
  std::string text;
  if (models > 1) text += cat(" for ", models, " models");
  if (frameworks > 1) text += cat(" in ", frameworks, " frameworks");
  if (machines > 1) text += cat(" on ", machines, " machines, which are kept apart");
  return text;
}

// The answer in one sentence.
std::string report_lead(std::span<const ReportCell> all) {
  const std::vector<ReportCell> cells = timed_of(all);
  if (cells.empty())
    return cat("Memory of ", all.size(), all.size() == 1 ? " workload" : " workloads", "; none was timed.");
  std::map<std::string, size_t> grades;
  size_t good = 0;
  for (const ReportCell& cell : cells) {
    if (cell.result.judgement.outcome.kind != OutcomeKind::ok) continue;
    ++good;
    ++grades[cell.result.judgement.grade];
  }
  std::vector<std::string> counted;
  for (const auto& [grade, count] : grades) counted.push_back(grades.size() == 1 ? grade : cat(count, " ", grade));
  const std::string grade = counted.empty() ? "" : cat(" Grade: ", join(counted, ", "), ".");
  if (cells.size() == 1 && good == 1) return single_lead(cells.front()) + grade;
  const std::string how_many = good == cells.size()
                                   ? cat("All ", grouped(static_cast<int64_t>(good)), " workloads gave a result")
                                   : cat(grouped(static_cast<int64_t>(good)), " of ",
                                         grouped(static_cast<int64_t>(cells.size())), " workloads gave a result");
  return cat(how_many, extent(cells), good == cells.size() ? "." : "; the others say why not.", grade);
}

std::string report_title(std::span<const ReportCell> cells) {
  const std::string& model = cells.front().record->run.workload.model;
  for (const ReportCell& cell : cells)
    if (cell.record->run.workload.model != model) return "Training benchmark";
  return cat("Training benchmark: ", model);
}

std::string head(const std::string& title, std::string_view plotly) {
  return cat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"",
      policy(plotly, report_script()),
      "\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>",
      html_escaped(title), "</title>\n<style>\n", report_style(), "</style>\n</head>\n");
}

std::string body_header(std::span<const ReportCell> cells, std::span<const Page> pages) {
  std::string html = cat("<body>\n<header>\n<h1>", html_escaped(report_title(cells)), "</h1>\n<p class=\"lead\">",
                         html_escaped(report_lead(cells)), "</p>\n</header>\n<nav><ul class=\"scroll\">");
  const bool many = std::ranges::count(pages, true, &Page::model) > kMostLinked;
  for (const Page& page : pages)
    if (!page.model || !many) html += cat("<li><a href=\"#", page.id, "\">", html_escaped(page.title), "</a></li>");
  return html + "</ul></nav>\n";
}

std::string section(const Page& page) {
  std::string html = cat("<section id=\"", page.id, "\">\n<h2>", html_escaped(page.title), "</h2>\n", page.html);
  if (page.charts.empty()) return html + page.below + "</section>\n";
  html += "<div class=\"figures\">\n";
  for (const Chart& chart : page.charts) html += to_figure(chart);
  return html + "</div>\n" + page.below + "</section>\n";
}

constexpr size_t kLongestStem = 80;

// "Throughput, images per second" is throughput-images-per-second. No title leads out of a folder.
std::string file_stem(std::string_view title) {
  std::string stem;
  for (const char c : title.substr(0, kLongestStem)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'), capital = c >= 'A' && c <= 'Z';
    if (plain || capital)
      stem += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!stem.empty() && stem.back() != '-')
      stem += '-';
  }
  while (stem.ends_with('-')) stem.pop_back();
  return stem.empty() ? "table" : stem;
}

}  // namespace

std::string report_html(const ReportInput& input, std::string_view plotly) {
  require(!input.records.empty(), "a report needs at least one record");
  if (plotly.empty())
    fail(ErrorKind::unsupported,
         "this build has no chart library (Plotly.js) for an HTML report: run tbd setup, or ask for --format md, csv "
         "or json");
  require(plotly.find("</script") == std::string_view::npos, "the chart library cannot be inlined: it holds </script");
  const Content content = report_content(input);
  const std::vector<ReportCell>& cells = content.cells;
  const std::vector<Page> pages = pages_of(content);
  std::string html = head(report_title(cells), plotly) + body_header(cells, pages) + "<main>\n";
  Json charts = Json::array();
  for (const Page& page : pages) {
    html += section(page);
    for (const Chart& chart : page.charts) charts.push_back(to_json(chart));
  }
  html += "<noscript><p>The charts need JavaScript; the tables hold the same numbers.</p></noscript>\n</main>\n";
  html += "<footer>Numbers, text and charts are functions of the records named under Methods.</footer>\n";
  html += cat("<script type=\"application/json\" id=\"tbd-data\">", embedded(charts), "</script>\n<script>");
  html += plotly;
  html += cat("</script>\n<script>", report_script(), "</script>\n</body>\n</html>\n");
  return html;
}

void write_report(const ReportInput& input, const std::filesystem::path& out) {
  write_file_atomic(out, report_html(input, plotly_js()));
}

std::vector<Table> report_tables(const ReportInput& input) {
  require(!input.records.empty(), "a report needs at least one record");
  const Content content = report_content(input);
  std::vector<Table> tables;
  for (Page& page : pages_of(content)) std::ranges::move(page.tables, std::back_inserter(tables));
  return tables;
}

std::vector<std::pair<std::string, std::string>> report_csv_files(const ReportInput& input) {
  std::vector<std::pair<std::string, std::string>> files;
  std::set<std::string> used;
  for (const Table& table : report_tables(input)) {
    const std::string stem = file_stem(table.title);
    std::string name = stem;
    for (int n = 2; !used.insert(name).second; ++n) name = cat(stem, "-", n);
    files.emplace_back(name + ".csv", to_csv(table));
  }
  return files;
}

std::string print_report(const ReportInput& input, Format format) {
  std::string out;
  for (Table& table : report_tables(input)) {
    if (format == Format::json) {
      table.columns.insert(table.columns.begin(), Column{"table", ""});
      for (auto& row : table.rows) row.insert(row.begin(), TableCell(table.title));
    } else if (format == Format::csv) {
      out += cat(out.empty() ? "" : "\n", "# ", table.title, "\n");
    } else if (!out.empty()) {
      out += "\n";
    }
    out += print(table, format);
  }
  return out;
}

}  // namespace tbd
