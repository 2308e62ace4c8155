#include "analysis/sweep/largest_batch.h"

#include "base/json.h"

namespace tbd {

Table largest_batch_table(std::span<const Record* const> records) {
  Table table{.title = "Largest batches that fit into a memory budget"};
  table.columns = {{"model", "model"},
                   {"framework", "framework"},
                   {"precision", "precision"},
                   {"budget_bytes", "budget", Unit::bytes},
                   {"batch", "largest batch", Unit::count},
                   {"too_large", "does not fit", Unit::count},
                   {"probes", "probes", Unit::count},
                   {"predicted_bytes", "predicted", Unit::bytes},
                   {"observed_bytes", "observed", Unit::bytes},
                   {"prediction_error", "error of the prediction", Unit::fraction}};
  for (const Record* record : records) {
    const std::optional<Json> found = maybe<Json>(record->run.environment, "largest_batch");
    if (!found) continue;
    const Workload& w = record->run.workload;
    table.rows.push_back({w.model, w.framework, w.precision, cell(maybe<int64_t>(*found, "budget")),
                          cell(maybe<int64_t>(*found, "batch")), cell(maybe<int64_t>(*found, "too_large")),
                          cell(maybe<int64_t>(*found, "probes")), cell(maybe<int64_t>(*found, "predicted_bytes")),
                          cell(maybe<int64_t>(*found, "observed_bytes")),
                          cell(maybe<double>(*found, "prediction_error"))});
  }
  if (!table.rows.empty())
    table.notes = {
        "Predicted: the step's memory and what the process was seen to take beside it at batch 1. Observed: "
        "the peak of the process. The budget is on what the process may allocate, which is more."};
  return table;
}

}  // namespace tbd
