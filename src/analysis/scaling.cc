#include "analysis/scaling.h"

#include <algorithm>

#include "base/link_limits.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

bool exchanges(const CellResult& cell) { return cell.workload.exchange != ExchangeMode::kNone; }

// All but what `also` names and how several workers go together.
bool alike_but_exchange(std::initializer_list<std::string_view> also, const CellResult& a, const CellResult& b) {
  std::vector<std::string_view> keys(also);
  for (const Axis& axis : axes())
    if (axis.of_several) keys.push_back(axis.key);
  return alike_but(keys, a.workload, b.workload);
}

// Of one worker with that batch, with as many threads as each of the several where there is one.
const CellResult* alone(const CellResult& several, int64_t batch, std::span<const CellResult> cells) {
  const CellResult* found = nullptr;
  for (const CellResult& cell : cells) {
    const MeasuredWorkload &one = cell.workload, &w = several.workload;
    if (one.workers != 1 || one.batch != batch) continue;
    if (!alike_but_exchange({"workers", "threads", "batch"}, cell, several)) continue;
    if (!found || (found->workload.threads != w.threads && one.threads == w.threads)) found = &cell;
  }
  return found;
}

// Why the two rows say nothing about the workers; empty where they do.
std::string why_undecided(const CellResult& one, const CellResult& several) {
  const int64_t cores = one.workload.threads, each = several.workload.threads;
  if (cores != each)
    return cat("cores per worker differ: one worker had ", cores, ", of ", several.workload.workers, " each had ", each,
               "; measure both with --threads ", each);
  for (const CellResult* cell : {&one, &several})
    if (const Measured& x = (*cell)["throughput"]; !x.value)
      return cat(cell->workload.workers, cell->workload.workers == 1 ? " worker" : " workers", " gave no throughput (",
                 name(cell->judgement.outcome.kind), ": ", x.reason, ")");
  return why_no_ratio(one, several);
}

Quotient efficiency_of(const CellResult& one, const CellResult& several) {
  const Quotient speed_up = speed_ratio(several, one);
  const auto each = [&](const std::optional<double>& of_all) {
    return of_all ? std::optional(*of_all / static_cast<double>(several.workload.workers)) : std::nullopt;
  };
  return {each(speed_up.value), each(speed_up.low), each(speed_up.high)};
}

Scaling scaling_of(const CellResult& one, const CellResult& several, bool strong, std::span<const CellResult> cells) {
  Scaling scaling{.one = &one, .several = &several, .strong = strong, .undecided = why_undecided(one, several)};
  if (!scaling.undecided.empty()) return scaling;
  if (!exchanges(several)) {
    scaling.contention = efficiency_of(one, several);
    return scaling;
  }
  scaling.efficiency = efficiency_of(one, several);
  const auto same_without = [&](const CellResult& each) {
    return !exchanges(each) && alike_but_exchange({}, each, several) && why_undecided(one, each).empty();
  };
  const auto without = std::ranges::find_if(cells, same_without);
  if (without == cells.end()) return scaling;
  scaling.contention = efficiency_of(one, *without);
  if (why_no_ratio(several, *without).empty()) scaling.exchange = speed_ratio(several, *without);
  return scaling;
}

// Takes away columns at the end that have no value, down to the one of this key; whether any is left.
bool drop_unknown_ends(Table& table, std::string_view last) {
  const auto is_unknown = [](const std::vector<TableCell>& row) { return row.back().index() == 0; };
  while (table.columns.back().key != last && std::ranges::all_of(table.rows, is_unknown)) {
    table.columns.pop_back();
    for (std::vector<TableCell>& row : table.rows) row.pop_back();
  }
  return table.columns.back().key != last;
}

}  // namespace

std::vector<Scaling> scalings(std::span<const CellResult> cells) {
  std::vector<Scaling> all;
  for (const CellResult& several : cells) {
    const int64_t workers = several.workload.workers, batch = several.workload.batch;
    if (workers == 1) continue;
    if (const CellResult* one = alone(several, batch, cells)) all.push_back(scaling_of(*one, several, false, cells));
    if (const CellResult* one = alone(several, workers * batch, cells))
      all.push_back(scaling_of(*one, several, true, cells));
  }
  return all;
}

std::string exchange_words(const MeasuredWorkload& workload) {
  std::string words = workload.exchange.text();
  for (const Axis& axis : axes())
    if (axis.of_several && axis.name != "exchange" && axis.name != "link" && !axis.print(workload).empty())
      words += cat(", ", axis.label.around(axis.print(workload)));
  return words;
}

Table scaling_table(std::span<const Scaling> scalings) {
  Table table{.title = "Scaling over workers",
              .columns = {{"model", "model"},
                          {"framework", "framework"},
                          {"precision", "precision"},
                          {"scaling", "scaling"},
                          {"workers", "workers", Unit::count},
                          {"link", "link"},
                          {"batch", "batch of each", Unit::count},
                          {"threads", "threads of each", Unit::count},
                          {"exchange", "exchange"},
                          {"throughput_one", "one, units/s", Unit::per_second},
                          {"throughput", "all, units/s", Unit::per_second},
                          {"scaling_efficiency", "efficiency"},
                          {"low", "from"},
                          {"high", "to"},
                          {"contention", "contention"},
                          {"contention_low", "from"},
                          {"contention_high", "to"},
                          {"exchange_factor", "exchange factor"},
                          {"exchange_low", "from"},
                          {"exchange_high", "to"}},
              .rows = {},
              .notes = {}};
  for (const Scaling& each : scalings) {
    const MeasuredWorkload& w = each.several->workload;
    std::vector<TableCell> row = {w.model,
                                  cat(w.framework, " ", w.framework_version),
                                  w.precision.text(),
                                  each.strong ? "strong" : "weak",
                                  w.workers,
                                  w.link.empty() ? std::string(kLoopback) : w.link.text(),
                                  w.batch,
                                  w.threads,
                                  exchange_words(w),
                                  cell((*each.one)["throughput"].value),
                                  cell((*each.several)["throughput"].value)};
    const size_t first = row.size();
    for (const Quotient& of : {each.efficiency, each.contention, each.exchange})
      for (const auto& value : {of.value, of.low, of.high}) row.push_back(cell(value));
    if (!each.undecided.empty()) {
      row[first] = "undecided";
      table.notes.push_back(cat(w.model, " ", w.framework, ", ", w.workers, " workers of batch ", w.batch,
                                w.link.empty() ? "" : cat(" over ", w.link), ": undecided: ", each.undecided));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return table;
  table.notes.push_back(
      "Efficiency: units a second of all workers over those of one, over the number of workers. Weak: each worker "
      "has the batch of the one; strong: they share it.");
  if (drop_unknown_ends(table, "high"))
    table.notes.push_back(
        "Contention: the same where each trained alone beside the others (exchange none): what sharing the machine "
        "costs. Exchange factor: units a second with the exchange over those without; the efficiency is the product of "
        "both.");
  return table;
}

}  // namespace tbd
