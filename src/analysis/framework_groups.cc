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

// Why the row is not compared with other frameworks; empty when it may be.
std::string why_apart(const CellResult& cell) {
  if (std::string reason = why_unranked(cell); !reason.empty()) return reason;
  if (!cell.verified) return "never checked against the reference: tbd check";
  if (!*cell.verified) return "does not train the same network: tbd check names the node";
  return "";
}

bool has_several_frameworks(std::span<const CellResult* const> family) {
  return std::ranges::any_of(family, [&](const CellResult* c) {
    return c->workload.framework != family[0]->workload.framework ||
           c->workload.framework_version != family[0]->workload.framework_version;
  });
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

std::string why_unranked(const CellResult& cell) {
  const Judgement& judged = cell.judgement;
  if (judged.outcome.kind != OutcomeKind::ok) return cat(name(judged.outcome.kind), ": ", judged.outcome.reason);
  if (!cell["throughput"].value) return cell["throughput"].reason;
  if (cell.workload.effort == "smoke") return "effort smoke shows that it runs, not how fast";
  return "";
}

bool is_disturbed(const CellResult& cell) {
  return cell.judgement.grade == name(Grade::disturbed) && cell.judgement.outcome.kind == OutcomeKind::ok &&
         cell["throughput"].value.has_value();
}

SideBySide side_by_side(std::span<const CellResult* const> rows, std::string (*why)(const CellResult&)) {
  SideBySide out;
  const auto took_turns = [&](const CellResult* row) {
    return std::ranges::any_of(rows, [&](const CellResult* other) {
      return other != row && why(*other).empty() && why_no_ratio(*row, *other).empty();
    });
  };
  for (const CellResult* row : rows) {
    std::string reason = why(*row);
    if (reason.empty() && is_disturbed(*row) && !took_turns(row))
      reason = cat("disturbed: ", row->judgement.grade_reason);
    if (reason.empty())
      out.compared.push_back(row);
    else
      out.apart.push_back({row, std::move(reason)});
  }
  return out;
}

std::vector<FrameworkGroup> framework_groups(std::span<const CellResult> cells) {
  std::vector<std::vector<const CellResult*>> families;
  for (const CellResult& cell : cells) {
    const auto found = std::ranges::find_if(
        families, [&](const auto& family) { return alike_but_framework(family[0]->workload, cell.workload); });
    (found == families.end() ? families.emplace_back() : *found).push_back(&cell);
  }
  std::erase_if(families, [](const auto& family) { return !has_several_frameworks(family); });
  std::vector<FrameworkGroup> groups;
  for (const std::vector<const CellResult*>& family : families) {
    FrameworkGroup& group = groups.emplace_back(side_by_side(family, why_apart));
    std::ranges::stable_partition(group.compared,  // ratios are to the reference where it is among them
                                  [](const CellResult* c) { return c->workload.framework == "pytorch"; });
  }
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
  int64_t disturbed = 0;
  for (const FrameworkGroup& group : groups)
    for (const CellResult* each : group.compared) {
      const Measured& x = (*each)["throughput"];
      const Quotient to_first = speed_ratio(*each, *group.compared.front());
      std::vector<TableCell> row = workload_cells(each->workload);
      const bool first = each == group.compared.front();
      const std::string undecided = why_no_ratio(*group.compared.front(), *each);
      disturbed += is_disturbed(*each);
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
  if (disturbed > 0)
    table.notes.push_back(cat(disturbed, " of ", table.rows.size(),
                              " rows were disturbed; their ratios are those of launches that took turns, with all of "
                              "their time, so that what slowed both is not in them."));
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
