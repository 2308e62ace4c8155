#include "analysis/sweep/largest_batch.h"

#include "base/json.h"

namespace tbd {
namespace {

// Earlier records have their number alone.
TableCell probes_of(const Json& found) {
  if (const auto tried = maybe<Json>(found, "tried")) return static_cast<int64_t>(tried->size());
  return cell(maybe<int64_t>(found, "probes"));
}

std::string end_of(const Json& found) {
  if (const auto fault = maybe<Json>(found, "fault"))
    return cat("no answer: ", maybe<std::string>(*fault, "kind").value_or("failed"));
  return maybe<bool>(found, "closed").value_or(true) ? "complete" : "cut short: at least";
}

}  // namespace

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
                   {"prediction_error", "error of the prediction", Unit::fraction},
                   {"search", "search"}};
  for (const Record* record : records) {
    const std::optional<Json> found = maybe<Json>(record->run.environment, "largest_batch");
    if (!found) continue;
    const MeasuredWorkload& w = record->run.workload;
    table.rows.push_back({w.model, w.framework, w.precision.text(), cell(maybe<int64_t>(*found, "budget")),
                          cell(maybe<int64_t>(*found, "batch")), cell(maybe<int64_t>(*found, "too_large")),
                          probes_of(*found), cell(maybe<int64_t>(*found, "predicted_bytes")),
                          cell(maybe<int64_t>(*found, "observed_bytes")),
                          cell(maybe<double>(*found, "prediction_error")), end_of(*found)});
  }
  if (!table.rows.empty())
    table.notes = {
        "Predicted: by a line through two smaller batches that were tried. Observed: the most that the process was "
        "seen to hold of what the budget is on (private memory that it may write, touched or not), looked at each "
        "millisecond."};
  return table;
}

}  // namespace tbd
