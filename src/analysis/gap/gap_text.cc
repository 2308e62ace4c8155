#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/gap/framework_gap.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr size_t kNamed = 3;
constexpr double kUnexplained = 0.2;  // of the difference: beyond, the split says little

std::string time(int64_t ns) { return format_seconds(1e-9 * static_cast<double>(ns)); }

double part_of_gap(int64_t part, int64_t whole) {
  return whole != 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string kernels(const GapPart& part) {
  const auto or_nothing = [](const std::string& kernel) { return kernel.empty() ? std::string("nothing") : kernel; };
  return cat(or_nothing(part.slow_kernel), " against ", or_nothing(part.fast_kernel));
}

std::string part_name(const GapPart& part) {
  return part.direction.empty() || part.direction == part.name ? part.name : cat(part.name, " ", part.direction);
}

// What the sentence does not name, put together.
int64_t others(const FrameworkGap& gap, GapPart::Kind kind, size_t named) {
  int64_t sum = 0;
  size_t seen = 0;
  for (const GapPart& part : gap.parts)
    if (part.kind == kind && seen++ >= named) sum += part.difference();
  return sum;
}

}  // namespace

std::string gap_title(const FrameworkGap& gap) {
  const MeasuredWorkload& w = gap.slow->run.workload;
  return cat(w.model, ", batch ", w.batch, ", ", w.precision, ": ", w.framework, " and ",
             gap.fast->run.workload.framework);
}

std::string gap_paragraph(const FrameworkGap& gap) {
  std::string text = cat(gap.slow->run.workload.framework, " takes ", time(gap.slow_ns), " a step, ",
                         gap.fast->run.workload.framework, " ", time(gap.fast_ns), ": ", time(gap.gap()), " more.");
  std::vector<std::string> sentences;
  for (const GapPart& part : gap.parts) {
    if (sentences.size() == kNamed || part.kind != GapPart::Kind::node || part.difference() <= 0) break;
    sentences.push_back(cat(part_name(part), " ", time(part.difference()), " more (", kernels(part), ")"));
  }
  if (sentences.empty())
    text += " No node takes longer there: the difference is outside them.";
  else
    text += cat(" Most by node: ", join(sentences, "; "), ".");
  const int64_t residual = gap.residual().difference();
  text += cat(" All other nodes ", time(others(gap, GapPart::Kind::node, sentences.size())), ", idle time ",
              time(others(gap, GapPart::Kind::idle, 0)), ", residual ", time(residual));
  if (gap.gap() != 0)
    text += cat(" (", format_percent(part_of_gap(std::abs(residual), gap.gap())), " of the difference)");
  text += ": what clean steps take beyond traced ones. These parts add up to the difference.";
  if (std::abs(part_of_gap(residual, gap.gap())) > kUnexplained)
    text += " The residual is large: clean and traced launches do not agree, and the split by node says little.";
  return text;
}

std::vector<GapPart> shortened(const FrameworkGap& gap, size_t most) {
  std::vector<GapPart> nodes, rest;
  for (const GapPart& part : gap.parts) (part.kind == GapPart::Kind::node ? nodes : rest).push_back(part);
  if (nodes.size() > most) {
    std::ranges::stable_sort(nodes, std::greater{}, [](const GapPart& part) { return std::abs(part.difference()); });
    GapPart others{.name = cat(nodes.size() - most, " others")};
    for (size_t i = most; i < nodes.size(); ++i) {
      others.slow_ns += nodes[i].slow_ns;
      others.fast_ns += nodes[i].fast_ns;
    }
    nodes.resize(most);
    std::ranges::stable_sort(nodes, std::greater{}, &GapPart::difference);
    nodes.push_back(std::move(others));
  }
  nodes.insert(nodes.end(), rest.begin(), rest.end());
  return nodes;
}

Table gap_table(const FrameworkGap& gap, size_t most) {
  const std::string slow = gap.slow->run.workload.framework, fast = gap.fast->run.workload.framework;
  Table table{.title = cat("Difference by node: ", gap_title(gap))};
  table.columns = {{"part", "part"},
                   {"direction", "direction"},
                   {"slow_s", slow, Unit::seconds},
                   {"fast_s", fast, Unit::seconds},
                   {"difference_ms", "difference, ms"},
                   {"share", "of the difference", Unit::fraction},
                   {"slow_kernel", cat("longest op in ", slow)},
                   {"fast_kernel", cat("longest op in ", fast)}};
  const auto row = [&](const std::string& name, const GapPart& part) {
    table.rows.push_back({name, part.direction, 1e-9 * static_cast<double>(part.slow_ns),
                          1e-9 * static_cast<double>(part.fast_ns), 1e-6 * static_cast<double>(part.difference()),
                          part_of_gap(part.difference(), gap.gap()), part.slow_kernel, part.fast_kernel});
  };
  for (const GapPart& part : shortened(gap, most))
    row(part.kind == GapPart::Kind::idle ? cat("idle: ", part.name) : part.name, part);
  row("all", {.slow_ns = gap.slow_ns, .fast_ns = gap.fast_ns});
  table.notes = {
      "Where several activities run at once, each instant is shared equally among them. Residual: the clean step less "
      "the traced one. The rows add up to the last one exactly."};
  return table;
}

Table gap_missing_table(std::span<const GapMissing> missing) {
  Table table{.title = "Differences not explained"};
  table.columns = {{"model", "model"},
                   {"batch", "batch", Unit::count},
                   {"precision", "precision"},
                   {"framework", "framework"},
                   {"reason", "reason"}};
  for (const GapMissing& each : missing) {
    const MeasuredWorkload& w = each.record->run.workload;
    table.rows.push_back(
        {w.model, w.batch, w.precision.text(), cat(w.framework, " ", w.framework_version), each.reason});
  }
  return table;
}

}  // namespace tbd
