// Why frameworks differ: the difference of two step times, split node by node.
#include <map>

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
    if (part.kind == GapPart::Kind::idle) {
      idle.slow_ns += part.slow_ns;
      idle.fast_ns += part.fast_ns;
    } else
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

bool is_traced(const Record& record) { return last_launch(record, Pass::kTrace) != nullptr; }

// Of the records of a workload, the best first, the first that has a trace, which a gap is split by; else the first.
std::vector<GapCell> one_of_each_workload(std::span<const ReportCell> cells) {
  std::vector<GapCell> asked;
  std::map<const Record*, size_t> places;  // by the record that stands for the workload
  for (const ReportCell& cell : cells) {
    const auto [place, is_new] = places.emplace(cell.stands_in ? cell.stands_in : cell.record, asked.size());
    const GapCell own = gap_cell(cell.run, cell.result);
    if (is_new)
      asked.push_back(own);
    else if (own.fault.empty() && is_traced(*own.record) && !is_traced(*asked[place->second].record))
      asked[place->second] = own;
  }
  return asked;
}

}  // namespace

Page gap_page(std::span<const ReportCell> cells) {
  Page page{.id = "framework-gap", .title = "Why frameworks differ"};
  const std::vector<GapCell> asked = one_of_each_workload(best_first(cells));
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
