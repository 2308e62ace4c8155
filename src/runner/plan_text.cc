// Writing plan files: docs/plans.md.
#include "base/text.h"
#include "runner/amounts.h"
#include "runner/plan_parts.h"

namespace tbd {
namespace {

void write(std::string& out, std::string_view key, const std::vector<std::string>& values) {
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(plan_parts::written(value));
  if (!texts.empty()) out += cat(key, " = ", join(texts, ", "), "\n");
}
void write(std::string& out, std::string_view key, const std::vector<int64_t>& values) {
  std::vector<std::string> texts;
  for (const int64_t value : values) texts.push_back(key == "batch" ? batch_text(value) : cat(value));
  write(out, key, texts);
}
void write_one(std::string& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out += cat(key, " = ", value, "\n");
}

void write(std::string& out, const Axes& axes) {
  write(out, "model", axes.models), write(out, "config", axes.configs), write(out, "framework", axes.frameworks);
  if (axes.sweep_to) write_one(out, "batch", *axes.sweep_to > 0 ? cat("sweep<=", *axes.sweep_to) : "sweep");
  write(out, "batch", axes.batches), write(out, "precision", axes.precisions), write(out, "device", axes.devices);
  write(out, "threads", axes.threads), write(out, "layout", axes.layouts), write(out, "input", axes.input_modes);
  write(out, "mode", axes.modes), write(out, "dropout", axes.dropouts);
  if (!axes.data.empty()) write_one(out, "data", plan_parts::written(axes.data));
  if (axes.seed != 0) write_one(out, "seed", cat(axes.seed));
  if (axes.memory_budget > 0) write_one(out, "memory", bytes_text(axes.memory_budget));
  write_one(out, "when", plan_parts::when_text(axes.when));
}

}  // namespace

std::string plan_text(const Plan& plan) {
  std::string out;
  if (plan.effort) write_one(out, "effort", std::string(name(*plan.effort)));
  write(out, "passes", plan.passes);
  if (plan.launches) write_one(out, "launches", cat(*plan.launches));
  if (plan.limit_seconds) write_one(out, "limit", seconds_text(*plan.limit_seconds));
  if (plan.budget_seconds) write_one(out, "budget", seconds_text(*plan.budget_seconds));
  if (plan.peaks) write_one(out, "peaks", *plan.peaks ? "yes" : "no");
  if (plan.check) write_one(out, "check", *plan.check ? "yes" : "no");
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    out += cat("[", i + 1, "]\n");
    write(out, plan.sets[i]);
  }
  for (const Axes& exclude : plan.excludes) {
    out += "[exclude]\n";
    write(out, exclude);
  }
  return out;
}

Plan plan_of(const std::vector<Cell>& cells) {
  Plan plan;
  const auto list = [](const auto& value) {
    using List = std::vector<std::decay_t<decltype(value)>>;
    return value == std::decay_t<decltype(value)>{} ? List{} : List{value};
  };
  for (const Cell& cell : cells)
    plan.sets.push_back({.models = {cell.model},
                         .configs = list(cell.config),
                         .frameworks = list(cell.framework),
                         .batches = list(cell.batch),
                         .precisions = list(cell.precision),
                         .devices = list(cell.device),
                         .threads = list(cell.threads),
                         .layouts = list(cell.layout),
                         .modes = list(cell.mode),
                         .input_modes = list(cell.input_mode),
                         .dropouts = list(cell.dropout),
                         .data = cell.data,
                         .seed = cell.seed,
                         .sweep_to = {},
                         .memory_budget = cell.memory_budget,
                         .when = {}});
  return plan;
}

}  // namespace tbd
