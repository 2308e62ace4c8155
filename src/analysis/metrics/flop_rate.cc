// FLOP rates and their shares of the measured roofs. FLOPs are analytic: what the model needs (measurement.md 3).
// Model FLOP/s utilization: Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, App. B.
#include "analysis/metrics.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

double sum_of(const RunInfo& run, int64_t OpCost::*column) {
  double sum = 0;
  for (const OpRow& op : run.ops) sum += static_cast<double>(op.forward.*column + op.backward.*column);
  return sum;
}

std::optional<double> model_flops_per_step(const RunInfo& run) {
  if (run.train_flops && run.workload.samples_per_step > 0)
    return static_cast<double>(*run.train_flops) * static_cast<double>(run.workload.samples_per_step);
  if (run.ops.empty()) return std::nullopt;
  return sum_of(run, &OpCost::flop_model);
}

Measured flop_rate_of(const RunView& run, std::optional<double> flops_per_step) {
  if (!flops_per_step) return absent("the record holds no FLOP count");
  double seconds = 0, steps = 0;
  for (const LaunchView& launch : run.launches)
    for (const double time : work_of(launch, run.basis).times) {
      seconds += time;
      ++steps;
    }
  if (!(seconds > 0)) return absent("no step was measured after warming up");
  return {.value = *flops_per_step * steps / seconds};
}

// The measured peak of the run's math type on a roof ("isa", "gemm"), FLOP/s.
std::optional<double> measured_peak(const RunView& run, std::string_view roof) {
  const std::optional<Json> rates = maybe<Json>(run.record->run.peaks, roof);
  const std::optional<double> rate = rates ? maybe<double>(*rates, run.workload().precision) : std::nullopt;
  return rate && *rate > 0 ? rate : std::nullopt;
}

Measured share_of_roof(const RunView& run, const Measured& rate, std::string_view roof) {
  if (!rate.value) return rate;
  const std::optional<double> peak_rate = measured_peak(run, roof);
  if (!peak_rate) return absent(cat("no ", roof, " peak was measured for ", run.workload().precision));
  return {.value = *rate.value / *peak_rate};
}

}  // namespace

Measured model_flop_rate(const RunView& run) { return flop_rate_of(run, model_flops_per_step(run.record->run)); }
Measured mfu(const RunView& run) { return share_of_roof(run, model_flop_rate(run), "isa"); }
Measured gemm_share(const RunView& run) { return share_of_roof(run, model_flop_rate(run), "gemm"); }

// Half-precision elementwise work runs in fp32 vectors, so it is no part of a half type's own share.
Measured flop_utilization(const RunView& run) {
  const RunInfo& info = run.record->run;
  const std::string& type = info.workload.precision;
  if (info.ops.empty()) return absent("the record holds no op table");
  const bool vector = type == "fp32" || type == "fp64";
  const double flops = sum_of(info, &OpCost::flop_model) + (vector ? sum_of(info, &OpCost::flop_simd) : 0.0);
  return share_of_roof(run, flop_rate_of(run, flops), "isa");
}

}  // namespace tbd
