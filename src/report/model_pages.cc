// One section a model: its charts against batch size, a panel a math type and machine.
#include "report/explained.h"
#include "report/page.h"
#include "report/panels.h"
#include "report/pictures.h"

namespace tbd {
namespace {

// What the network is, in one line.
std::string card_line(const ModelGroup& group) {
  const Sweep& sweep = *group.panels.front().series.front().sweep;
  const SweepPoint& point = sweep.points.front();
  std::vector<std::string> facts;
  if (!sweep.card.domain.empty()) facts.push_back(sweep.card.domain);
  if (!sweep.card.dataset.empty()) facts.push_back(sweep.card.dataset);
  if (sweep.card.layers > 0) facts.push_back(cat(sweep.card.layers, " layers"));
  if (const auto n = point.record->run.parameters) facts.push_back(cat(grouped(*n), " parameters"));
  if (const auto n = point.record->run.train_flops)
    facts.push_back(cat(format_rate(static_cast<double>(*n)), "FLOP a sample"));
  if (!sweep.workload.optimizer.empty()) facts.push_back(sweep.workload.optimizer);
  return facts.empty() ? "" : cat("<p class=\"sub\">", html_escaped(join(facts, " · ")), "</p>\n");
}

// Machines and input modes that the section's series come from.
std::string machine_lines(const ModelGroup& group, const Content& content) {
  if (content.machines.size() < 2) return "";
  std::string html;
  for (const std::string& machine : content.machines) {
    for (const Panel& panel : group.panels)
      if (panel.series.front().sweep->machine == machine) {
        html += cat("<li>", html_escaped(cat(machine_name(content.machines, machine), ": ", machine)), "</li>\n");
        break;
      }
  }
  return cat("<ul class=\"sub\">\n", html, "</ul>\n");
}

void keep(Page& page, std::optional<Chart> chart, const std::string& model) {
  if (!chart) return;
  page.tables.push_back(chart->table);
  page.tables.back().title = cat(model, ": ", chart->title);
  page.charts.push_back(std::move(*chart));
}

// A panel without an evidence pass says so instead of showing an empty chart.
std::string missing(const Panel& panel, bool traced, bool followed) {
  std::vector<std::string> lacks;
  if (!traced) lacks.push_back("utilization (pass trace)");
  if (!followed) lacks.push_back("memory by data structure (pass memory)");
  if (lacks.empty()) return "";
  return cat("<p class=\"note\">", html_escaped(panel.where), ": not measured: ", join(lacks, ", "),
             ". tbd run … --passes clean,trace,memory measures it.</p>\n");
}

// Notes of the points: "trace: ...".
std::string notes_of(const Panel& panel) {
  std::string items;
  for (const PanelSeries& each : panel.series)
    for (const SweepPoint& point : each.sweep->points)
      for (const std::string& note : point.notes)
        items += cat("<li>", html_escaped(cat(each.name, " batch ", point.batch, ": ", note)), "</li>\n");
  if (items.empty()) return "";
  return cat("<details><summary>Why some values of ", html_escaped(panel.where),
             " are absent</summary><ul class=\"sub\">\n", items, "</ul></details>\n");
}

Page model_page(const ModelGroup& group, const Content& content) {
  Page page{.id = group.id, .title = group.title, .model = true};
  page.html = card_line(group) + machine_lines(group, content);
  for (const Panel& panel : group.panels) {
    if (panel.swept()) {
      keep(page, throughput_chart(panel), group.title);
      std::optional<Chart> busy = compute_utilization_chart(panel), flops = flop_utilization_chart(panel),
                           memory = memory_chart(panel);
      page.html += missing(panel, busy.has_value(), memory.has_value());
      keep(page, std::move(busy), group.title);
      keep(page, std::move(flops), group.title);
      keep(page, std::move(memory), group.title);
    }
    keep(page, training_chart(panel), group.title);
    page.below += notes_of(panel);
  }
  add_pictures(page, group.model, content.cells);
  return page;
}

}  // namespace

std::vector<Page> model_pages(const Content& content) {
  std::vector<Page> pages;
  for (const ModelGroup& group : model_groups(content)) pages.push_back(model_page(group, content));
  return pages;
}

}  // namespace tbd
