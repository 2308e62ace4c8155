#include "analysis/input_verdict.h"

#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

constexpr double kWaitLimit = 0.02, kRatioLimit = 0.98;

// Alike but for where the batches come from.
bool differ_in_input(const MeasuredWorkload& a, const MeasuredWorkload& b) {
  return alike_but({"input_mode", "synchronisation", "data_hash", "unpinned", "memory_budget_bytes"}, a, b);
}

InputVerdict input_verdict_of(const InputPair& pair) {
  const std::optional<double> wait = (*pair.pipeline)["input_wait"].value;
  if (!wait) return InputVerdict::undecided;
  if (*wait > kWaitLimit) return InputVerdict::input_bound;
  if (pair.ratio.high && *pair.ratio.high < kRatioLimit) return InputVerdict::cores_shared;
  if (pair.ratio.low && *pair.ratio.low > kRatioLimit) return InputVerdict::not_input_bound;
  return InputVerdict::undecided;
}

std::string missing_evidence(const InputPair& pair) {
  for (const CellResult* cell : {pair.resident, pair.pipeline})
    if (const Measured& throughput = (*cell)["throughput"]; !throughput.value)
      return cat("the ", cell->workload.input_mode, " input gave no throughput (", name(cell->judgement.outcome.kind),
                 ": ", throughput.reason, ")");
  if (const Measured& wait = (*pair.pipeline)["input_wait"]; !wait.value)
    return cat("how long training waited is not known: ", wait.reason);
  if (!pair.ratio.low || !pair.ratio.high) return "too few steps for an interval of the ratio";
  return "the intervals are too wide to decide whether the input is the limit";
}

}  // namespace

std::string_view name(InputVerdict verdict) {
  switch (verdict) {
    case InputVerdict::input_bound:
      return "input-bound";
    case InputVerdict::cores_shared:
      return "cores shared";
    case InputVerdict::not_input_bound:
      return "not input-bound";
    case InputVerdict::undecided:
      break;
  }
  return "undecided";
}

std::string sentence(const InputPair& pair) {
  switch (pair.verdict) {
    case InputVerdict::input_bound:
      return "training waits for its input";
    case InputVerdict::cores_shared:
      return "training does not wait, but shares its cores with the loader and loses speed";
    case InputVerdict::not_input_bound:
      return "the input keeps up with training";
    case InputVerdict::undecided:
      break;
  }
  return missing_evidence(pair);
}

std::vector<InputPair> input_pairs(std::span<const CellResult> cells) {
  std::vector<InputPair> pairs;
  for (const CellResult& resident : cells) {
    if (resident.workload.input_mode != InputMode::kResident) continue;
    for (const CellResult& pipeline : cells) {
      if (pipeline.workload.input_mode != InputMode::kPipeline) continue;
      if (!differ_in_input(resident.workload, pipeline.workload)) continue;
      InputPair pair{.resident = &resident, .pipeline = &pipeline};
      pair.ratio = quotient(pipeline["throughput"], resident["throughput"]);
      pair.verdict = input_verdict_of(pair);
      pairs.push_back(pair);
    }
  }
  return pairs;
}

Table input_table(std::span<const InputPair> pairs) {
  Table table;
  table.columns = {{"model", "model"},
                   {"framework", "framework"},
                   {"precision", "precision"},
                   {"batch", "batch", Unit::count},
                   {"resident", "resident, units/s", Unit::per_second},
                   {"pipeline", "pipeline, units/s", Unit::per_second},
                   {"ratio", "ratio"},
                   {"ratio_low", "from"},
                   {"ratio_high", "to"},
                   {"input_wait", "waiting", Unit::fraction},
                   {"verdict", "verdict"}};
  for (const InputPair& pair : pairs) {
    const MeasuredWorkload& w = pair.resident->workload;
    table.rows.push_back({w.model, w.framework, w.precision.text(), w.batch, cell((*pair.resident)["throughput"].value),
                          cell((*pair.pipeline)["throughput"].value), cell(pair.ratio.value), cell(pair.ratio.low),
                          cell(pair.ratio.high), cell((*pair.pipeline)["input_wait"].value),
                          cat(name(pair.verdict), ": ", sentence(pair))});
  }
  return table;
}

}  // namespace tbd
