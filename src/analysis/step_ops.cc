#include "analysis/step_ops.h"

#include <algorithm>
#include <cmath>

namespace tbd {
namespace {

void take_off(OpCost& all, const OpCost& each, double rows) {
  const auto less = [rows](int64_t& sum, int64_t of_row) {
    sum = std::max<int64_t>(0, sum - std::llround(rows * static_cast<double>(of_row)));
  };
  less(all.flop_model, each.flop_model);
  less(all.flop_valid, each.flop_valid);
  less(all.flop_simd, each.flop_simd);
  less(all.trans, each.trans);
  less(all.bytes, each.bytes);
}

}  // namespace

std::optional<double> mean_rows(std::span<const StepRow> steps) {
  double sum = 0;
  for (const StepRow& step : steps) {
    if (!step.rows) return std::nullopt;
    sum += static_cast<double>(*step.rows);
  }
  return steps.empty() ? std::nullopt : std::optional(sum / static_cast<double>(steps.size()));
}

std::vector<OpRow> ops_of_step(std::vector<OpRow> ops, std::optional<double> rows) {
  for (OpRow& op : ops) {
    if (!op.row || !rows) continue;
    const double missing = std::max(0.0, static_cast<double>(op.row->most) - *rows);
    take_off(op.forward, op.row->forward, missing);
    take_off(op.backward, op.row->backward, missing);
  }
  return ops;
}

}  // namespace tbd
