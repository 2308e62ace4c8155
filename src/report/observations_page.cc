// The paper's 13 observations, each with its verdict, the numbers behind it and links to the cells that gave them.
#include <algorithm>
#include <map>

#include "analysis/observations/observations.h"
#include "report/explained.h"
#include "report/page.h"
#include "report/panels.h"

namespace tbd {
namespace {

using Anchors = std::map<std::string, std::pair<std::string, std::string>>;  // by record: section and its title

Anchors anchors_of(const Content& content) {
  Anchors anchors;
  for (const ModelGroup& group : model_groups(content))
    for (const Panel& panel : group.panels)
      for (const PanelSeries& each : panel.series)
        for (const SweepPoint& point : each.sweep->points) anchors[point.cell.record_hash] = {group.id, group.title};
  return anchors;
}

std::string badge(RuleVerdict verdict) {
  const bool good = verdict == RuleVerdict::holds || verdict == RuleVerdict::mostly;
  const char* kind = good ? " good" : verdict == RuleVerdict::fails ? " bad" : "";
  return cat("<span class=\"badge", kind, "\">", html_escaped(name(verdict)), "</span>");
}

// The sections of the models that a case rests on, each once.
std::string links(const Case& each, const Anchors& anchors) {
  std::vector<std::string> sections;
  for (const std::string& hash : each.records) {
    const auto found = anchors.find(hash);
    if (found == anchors.end()) continue;
    const std::string link = cat("<a href=\"#", found->second.first, "\">", html_escaped(found->second.second), "</a>");
    if (!std::ranges::count(sections, link)) sections.push_back(link);
  }
  return join(sections, ", ");
}

std::string short_hashes(const Case& each) {
  std::vector<std::string> hashes;
  for (const std::string& hash : each.records) hashes.push_back(hash.substr(0, 12));
  return html_escaped(join(hashes, " "));
}

std::string evidence(const Observation& o, const Anchors& anchors) {
  if (o.cases.empty()) return "";
  std::string html = cat("<details><summary>", o.cases.size(), o.cases.size() == 1 ? " case" : " cases",
                         "</summary>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">case</th><th "
                         "scope=\"col\">found</th><th scope=\"col\">numbers</th><th scope=\"col\">section</th><th "
                         "scope=\"col\">records</th></tr></thead>\n<tbody>\n");
  for (const Case& each : o.cases)
    html += cat("<tr><td>", html_escaped(each.what), "</td><td>", finding(each), "</td><td class=\"t\">",
                html_escaped(each.said), "</td><td>", links(each, anchors), "</td><td class=\"t\">", short_hashes(each),
                "</td></tr>\n");
  return html + "</tbody></table></div></details>\n";
}

std::string observation_html(const Observation& o, const Anchors& anchors) {
  std::string html = cat("<li value=\"", o.number, "\"><strong>", html_escaped(o.claim), "</strong> ", badge(o.verdict),
                         "\n<p>", html_escaped(o.effect), "</p>\n");
  if (!o.missing.empty()) {
    html += cat("<p class=\"sub\">Missing: ", html_escaped(o.missing));
    if (!o.command.empty()) html += cat(" <code>", html_escaped(o.command), "</code>");
    html += "</p>\n";
  }
  return html + evidence(o, anchors) + "</li>\n";
}

bool worth_showing(const Content& content, std::span<const Observation> all) {
  return std::ranges::any_of(content.sweeps, [](const Sweep& sweep) { return sweep.points.size() > 1; }) ||
         std::ranges::any_of(all, [](const Observation& o) {
           return o.verdict != RuleVerdict::inconclusive && o.verdict != RuleVerdict::not_applicable;
         });
}

}  // namespace

Page observations_page(const Content& content) {
  Page page{.id = "observations", .title = "Observations"};
  const std::vector<Observation> all = observe(content.sweeps, content.networks);
  if (!worth_showing(content, all)) return page;
  const Anchors anchors = anchors_of(content);
  page.html =
      "<p>The 13 observations of Zhu et al. 2018, judged anew on these records by rules that were fixed before "
      "measuring. Each case is decided by its interval or not at all.</p>\n";
  std::vector<std::string> labels;
  for (const Observation& o : all)
    if (!std::ranges::count(labels, o.label)) labels.push_back(o.label);
  for (const std::string& label : labels) {
    if (!label.empty()) page.html += cat("<h3>", html_escaped(label), "</h3>\n");
    page.html += "<ol class=\"observations\">\n";
    for (const Observation& o : all)
      if (o.label == label) page.html += observation_html(o, anchors);
    page.html += "</ol>\n";
  }
  for (const Table& table : {observation_table(all), missing_table(all), case_table(all)})
    if (!table.rows.empty()) page.tables.push_back(table);
  return page;
}

}  // namespace tbd
