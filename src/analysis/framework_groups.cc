#include "analysis/framework_groups.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "record/axes.h"
#include "stats/effort.h"

namespace tbd {
namespace {

// Alike but for the framework and what comes with it.
bool alike_but_framework(const MeasuredWorkload& a, const MeasuredWorkload& b) {
  return alike_but({"framework", "framework_version", "mode", "layout", "optimizer", "synchronisation", "data_hash",
                    "unpinned", "memory_budget_bytes"},
                   a, b);
}

// Why the row is not compared; empty when it is.
std::string why_apart(const CellResult& cell) {
  const Measured& throughput = cell["throughput"];
  if (cell.judgement.outcome.kind != OutcomeKind::ok)
    return cat(name(cell.judgement.outcome.kind), ": ", cell.judgement.outcome.reason);
  if (!throughput.value) return throughput.reason;
  if (cell.judgement.grade == name(Grade::disturbed)) return cat("disturbed: ", cell.judgement.grade_reason);
  if (cell.workload.effort == "smoke") return "effort smoke shows that it runs, not how fast";
  if (!cell.verified) return "never checked against the reference: tbd check";
  if (!*cell.verified) return "does not train the same network: tbd check names the node";
  return "";
}

bool has_several_frameworks(const FrameworkGroup& group) {
  std::set<std::pair<std::string, std::string>> frameworks;
  const auto note = [&](const CellResult* c) {
    frameworks.emplace(c->workload.framework, c->workload.framework_version);
  };
  for (const CellResult* c : group.compared) note(c);
  for (const Apart& each : group.apart) note(each.cell);
  return frameworks.size() > 1;
}

const CellResult& any(const FrameworkGroup& group) {
  return group.compared.empty() ? *group.apart.front().cell : *group.compared.front();
}

std::vector<Column> workload_columns() {
  return {{"model", "model"},
          {"config", "config"},
          {"precision", "precision"},
          {"input", "input"},
          {"batch", "batch", Unit::count},
          {"framework", "framework"},
          {.key = "mode", .title = "mode", .drop = 2},
          {.key = "layout", .title = "layout", .drop = 2}};
}

std::vector<TableCell> workload_cells(const MeasuredWorkload& w) {
  return {w.model,
          w.config,
          w.precision.text(),
          w.input_mode.text(),
          w.batch,
          cat(w.framework, " ", w.framework_version),
          w.mode.text(),
          w.layout.text()};
}

}  // namespace

std::vector<FrameworkGroup> framework_groups(std::span<const CellResult> cells) {
  std::vector<FrameworkGroup> groups;
  for (const CellResult& cell : cells) {
    auto found = std::ranges::find_if(
        groups, [&](const FrameworkGroup& group) { return alike_but_framework(any(group).workload, cell.workload); });
    FrameworkGroup& group = found == groups.end() ? groups.emplace_back() : *found;
    const std::string reason = why_apart(cell);
    if (reason.empty())
      group.compared.push_back(&cell);
    else
      group.apart.push_back({&cell, reason});
  }
  for (FrameworkGroup& group : groups)  // ratios are to the reference where it is among them
    std::ranges::stable_partition(group.compared,
                                  [](const CellResult* c) { return c->workload.framework == "pytorch"; });
  std::erase_if(groups, [](const FrameworkGroup& group) { return !has_several_frameworks(group); });
  return groups;
}

Table comparison_table(std::span<const FrameworkGroup> groups) {
  Table table{.title = "Frameworks side by side", .columns = workload_columns(), .rows = {}, .notes = {}};
  for (const Column& column : std::vector<Column>{{"throughput", "units/s", Unit::per_second},
                                                  {"low", "from", Unit::per_second},
                                                  {"high", "to", Unit::per_second},
                                                  {"ratio", "to the first"},
                                                  {"ratio_low", "from"},
                                                  {"ratio_high", "to"}})
    table.columns.push_back(column);
  for (Column& column : table.columns)
    if (column.key.starts_with("ratio") || column.key == "framework") column.drop = 0;
  for (const FrameworkGroup& group : groups)
    for (const CellResult* each : group.compared) {
      const Measured& x = (*each)["throughput"];
      const Quotient to_first = speed_ratio(*each, *group.compared.front());
      std::vector<TableCell> row = workload_cells(each->workload);
      const bool first = each == group.compared.front();
      const std::string undecided = unlike_evidence(*group.compared.front(), *each);
      for (const auto& value : {x.value, x.low, x.high}) row.push_back(cell(value));
      if (!first && !undecided.empty()) {
        row.insert(row.end(), {TableCell("undecided"), TableCell(), TableCell()});
        table.notes.push_back(cat(each->workload.framework, " to ", group.compared.front()->workload.framework, ", ",
                                  each->workload.precision, ": undecided: ", undecided));
      } else {
        row.push_back(group.compared.size() > 1 ? cell(to_first.value) : TableCell());
        row.push_back(first ? TableCell() : cell(to_first.low));
        row.push_back(first ? TableCell() : cell(to_first.high));
      }
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table apart_table(std::span<const FrameworkGroup> groups) {
  Table table{.title = "Not compared", .columns = workload_columns(), .rows = {}, .notes = {}};
  table.columns.push_back({"throughput", "units/s", Unit::per_second});
  table.columns.push_back({.key = "reason", .title = "reason", .drop = 0});
  for (const FrameworkGroup& group : groups)
    for (const Apart& each : group.apart) {
      std::vector<TableCell> row = workload_cells(each.cell->workload);
      row.push_back(cell((*each.cell)["throughput"].value));
      row.emplace_back(each.reason);
      table.rows.push_back(std::move(row));
    }
  return table;
}

std::string mode_sentence(std::span<const FrameworkGroup> groups) {
  std::set<std::string> modes;
  bool eager_pytorch = false;
  for (const FrameworkGroup& group : groups)
    for (const CellResult* each : group.compared) {
      modes.insert(cat(each->workload.framework, " ", each->workload.mode));
      eager_pytorch = eager_pytorch || (each->workload.framework == "pytorch" && each->workload.mode == Mode::kEager);
    }
  if (modes.empty()) return "";
  std::string text = cat("Modes: ", join(std::vector<std::string>(modes.begin(), modes.end()), ", "), ".");
  if (eager_pytorch)
    text +=
        " PyTorch's rows are eager: its operations run one after the other, as a C++ program calls them; no compiler "
        "has seen the whole network.";
  return text;
}

}  // namespace tbd
