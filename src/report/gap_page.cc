// Why frameworks differ: the difference of two step times, split node by node.
#include "analysis/gap/framework_gap.h"
#include "report/page.h"

namespace tbd {
namespace {

constexpr size_t kInChart = 3, kInTable = 20, kInData = 60;

double ms(int64_t ns) { return 1e-6 * static_cast<double>(ns); }

std::string series_name(const GapPart& part) {
  return part.direction.empty() || part.direction == part.name ? part.name : cat(part.name, " ", part.direction);
}

// Idle causes as one.
std::vector<GapPart> bar_parts(const FrameworkGap& gap) {
  std::vector<GapPart> parts;
  GapPart idle{.kind = GapPart::Kind::idle, .name = "idle time"};
  for (GapPart& part : shortened(gap, kInChart)) {
    if (part.kind == GapPart::Kind::idle)
      idle.slow_ns += part.slow_ns, idle.fast_ns += part.fast_ns;
    else
      parts.push_back(std::move(part));
  }
  parts.insert(parts.end() - 1, std::move(idle));
  return parts;
}

Chart gap_chart(const FrameworkGap& gap, size_t number) {
  const std::string slow = gap.slow->run.workload.framework, fast = gap.fast->run.workload.framework;
  Chart chart{.id = cat("framework-gap-", number),
              .title = cat("Why ", slow, " takes longer: ", gap_title(gap)),
              .y_title = "difference a step, ms",
              .caption = "Parts add up to the difference of the clean step times; parts below zero are faster there.",
              .mark = Mark::stacks,
              .order = {cat(slow, " less ", fast)}};
  chart.table = gap_table(gap, kInTable);
  chart.data.columns = {{"kind", ""},    {"part", ""},        {"direction", ""},  {"slow_ns", ""},
                        {"fast_ns", ""}, {"slow_kernel", ""}, {"fast_kernel", ""}};
  for (const GapPart& part : bar_parts(gap))
    chart.series.push_back({.name = series_name(part), .labels = {chart.order.front()}, .y = {ms(part.difference())}});
  constexpr const char* kKinds[] = {"node", "idle", "residual"};
  for (const GapPart& part : shortened(gap, kInData))
    chart.data.rows.push_back({kKinds[static_cast<size_t>(part.kind)], part.name, part.direction, part.slow_ns,
                               part.fast_ns, part.slow_kernel, part.fast_kernel});
  return chart;
}

}  // namespace

Page gap_page(std::span<const ReportCell> cells) {
  Page page{.id = "framework-gap", .title = "Why frameworks differ"};
  std::vector<GapCell> asked;
  for (const ReportCell& cell : cells) asked.push_back(gap_cell(cell.run, cell.result));
  const FrameworkGaps found = framework_gaps(asked);
  if (found.gaps.empty() && found.missing.empty()) return page;
  page.html =
      "<p>The same network, batch and precision on the same machine, in two frameworks that passed the same checks. "
      "The difference of their step times is split by what a step consists of; a bar adds up to it exactly.</p>\n";
  for (size_t i = 0; i < found.gaps.size(); ++i) {
    const FrameworkGap& gap = found.gaps[i];
    page.html +=
        cat("<p><strong>", html_escaped(gap_title(gap)), ".</strong> ", html_escaped(gap_paragraph(gap)), "</p>\n");
    page.charts.push_back(gap_chart(gap, i + 1));
    page.tables.push_back(page.charts.back().table);
  }
  if (!found.missing.empty()) {
    page.tables.push_back(gap_missing_table(found.missing));
    (page.charts.empty() ? page.html : page.below) += to_html(page.tables.back());
  }
  return page;
}

}  // namespace tbd
