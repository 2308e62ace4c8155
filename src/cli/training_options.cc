#include "cli/training_options.h"

#include <algorithm>
#include <set>

#include "cli/workload_options.h"

namespace tbd::cli {

void TrainingOptions::declare(Options& options) {
  options.positional("MODEL", workload_.model, "Model name or path of a program file [none: required]");
  options.option("--data", workload_.data, "Data set, with a held-out part [none: required]");
  options.option("--config", workload_.config, "Configuration of the model [its first]");
  declare_axis(options, "framework", workload_.framework);
  declare_axis(options, "precision", workload_.precision);
  declare_axis(options, "device", workload_.device);
  declare_axis(options, "layout", workload_.layout);
  declare_axis(options, "mode", workload_.mode);
  options.option("--batch", batch_, "Batch size [the usual one of the network]");
  options.option("--threads", threads_, "Threads per op [one per usable core]");
  options.option("--seed", seed_, "Seed for weights, order and augmentation", {.show_default = true});
  output.declare(options);
}

Workload TrainingOptions::workload() const {
  if (workload_.model.empty()) fail(ErrorKind::usage, "which network? MODEL is missing");
  Workload out = workload_;
  if (batch_) out.batch = positive(*batch_, "--batch");
  if (threads_) out.threads = positive(*threads_, "--threads");
  out.seed = seed_from(seed_);
  return out;
}

Table evaluation_table(const std::string& title, const std::vector<EvaluationRow>& rows) {
  std::set<std::string> names;
  for (const EvaluationRow& row : rows)
    for (const auto& [name, value] : row.metrics) names.insert(name);
  Table table{.title = title,
              .columns = {{"step", "Step", Unit::count},
                          {"training_seconds", "Training time", Unit::seconds},
                          {"evaluation_seconds", "Evaluation time", Unit::seconds},
                          {"samples", "Held-out samples", Unit::count},
                          {"training_loss", "Training loss", Unit::none}}};
  for (const std::string& name : names) table.columns.push_back({name, name, Unit::none});
  for (const EvaluationRow& row : rows) {
    std::vector<TableCell> cells = {row.step, row.training_seconds, row.wall_seconds, row.samples,
                                    cell(row.training_loss)};
    for (const std::string& name : names) {
      const auto found = row.metrics.find(name);
      cells.push_back(cell(found == row.metrics.end() ? std::nullopt : std::optional(found->second)));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace tbd::cli
