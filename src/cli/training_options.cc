#include "cli/training_options.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/small_sets.h"

namespace tbd::cli {

void TrainingOptions::declare(Options& options) {
  network_.declare(options);
  options.option("--data", data_,
                 "Data set with a held-out part: a folder, or a small set's name, such as photos [none: required]");
  output.declare(options);
}

Workload TrainingOptions::workload(const Context& context) const {
  Workload out = network_.workload();
  out.data = data_folder(context, data_);
  return out;
}
std::string TrainingOptions::title() const {
  return data_.empty() ? network_.workload().model : cat(network_.workload().model, " on ", data_);
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
