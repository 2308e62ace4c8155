// FLOP rates and their shares of the measured roofs. FLOPs are analytic: what the model needs (docs/flops.md).
// Model FLOP/s utilization: Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, App. B.
#include "analysis/metric_parts.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

double sum_of(const RunInfo& run, int64_t OpCost::*column) {
  double sum = 0;
  for (const OpRow& op : run.ops) sum += static_cast<double>(op.forward.*column + op.backward.*column);
  return sum;
}

// What rows would have added that the data of a step gave no work to: in no step any, where the steps do not say.
double unused_rows(const RunInfo& run, const StepTotals& steps, int64_t OpCost::*column) {
  double sum = 0;
  for (const OpRow& op : run.ops) {
    if (!op.row || !steps.rows) continue;
    const double rows = std::max(0.0, static_cast<double>(op.row->most) - *steps.rows);
    sum += rows * static_cast<double>(op.row->forward.*column + op.row->backward.*column);
  }
  return sum;
}

std::optional<double> model_flops_per_step(const RunInfo& run, const StepTotals& steps) {
  const double less = unused_rows(run, steps, &OpCost::flop_model);
  if (run.train_flops && run.workload.samples_per_step > 0)
    return static_cast<double>(*run.train_flops) * static_cast<double>(run.workload.samples_per_step) - less;
  if (run.ops.empty()) return std::nullopt;
  return sum_of(run, &OpCost::flop_model) - less;
}

Measured flop_rate_of(const StepTotals& headline, std::optional<double> flops_per_step) {
  if (!flops_per_step) return absent("the record holds no FLOP count");
  if (!(headline.seconds > 0)) return not_measured();
  return {.value = *flops_per_step * static_cast<double>(headline.steps) / headline.seconds};
}

// The measured peak of the run's math type on a roof ("isa", "gemm"), FLOP/s.
std::optional<double> measured_peak(const RunView& run, std::string_view roof) {
  const std::optional<Json> rates = maybe<Json>(run.record->run.peaks, roof);
  const std::optional<double> rate = rates ? maybe<double>(*rates, run.workload().precision.text()) : std::nullopt;
  return rate && *rate > 0 ? rate : std::nullopt;
}

Measured share_of_roof(const RunView& run, const Measured& rate, std::string_view roof) {
  if (!rate.value) return rate;
  const std::optional<double> peak_rate = measured_peak(run, roof);
  if (!peak_rate) {
    const auto reason = maybe<std::string>(run.record->run.peaks, "reason");
    return absent(
        cat("no ", roof, " peak was measured for ", run.workload().precision, reason ? ": " : "", reason.value_or("")));
  }
  return {.value = *rate.value / *peak_rate};
}

Measured model_flop_rate(const RunView& run) {
  const StepTotals headline = headline_steps(run);
  return flop_rate_of(headline, model_flops_per_step(run.record->run, headline));
}
Measured mfu(const RunView& run) { return share_of_roof(run, model_flop_rate(run), "isa"); }
Measured gemm_share(const RunView& run) { return share_of_roof(run, model_flop_rate(run), "gemm"); }

// Half-precision elementwise work runs in fp32 vectors, so it is no part of a half type's own share.
std::optional<double> own_flops_per_step(const RunInfo& run, const StepTotals& steps) {
  if (run.ops.empty()) return std::nullopt;
  const std::string& type = run.workload.precision.text();
  const bool vector = type == "fp32" || type == "fp64";
  const auto done = [&](int64_t OpCost::*column) { return sum_of(run, column) - unused_rows(run, steps, column); };
  return done(&OpCost::flop_model) + (vector ? done(&OpCost::flop_simd) : 0.0);
}

Measured flop_utilization(const RunView& run) {
  const RunInfo& info = run.record->run;
  if (info.ops.empty()) return absent("the record holds no op table");
  const StepTotals headline = headline_steps(run);
  return share_of_roof(run, flop_rate_of(headline, own_flops_per_step(info, headline)), "isa");
}

// Where a program has ragged rows: how many there were, and what each adds.
void row_facts(const RunView& run, Facts& facts) {
  int64_t most = 0, model = 0, simd = 0;
  for (const OpRow& op : run.record->run.ops) {
    if (!op.row) continue;
    most = op.row->most;
    model += op.row->forward.flop_model + op.row->backward.flop_model;
    simd += op.row->forward.flop_simd + op.row->backward.flop_simd;
  }
  if (most == 0) return;
  facts.push_back({"model FLOPs of one row", model, "", "run.json: ops, sum of row flop_model"});
  facts.push_back({"elementwise FLOPs of one row", simd, "", "run.json: ops, sum of row flop_simd"});
  facts.push_back({"rows in the counts of one step", most, "", "run.json: ops, row.most"});
  facts.push_back({"rows of one step, mean", known(headline_steps(run).rows), "", "steps.csv: rows"});
}

void flop_facts(const RunView& run, Facts& facts) {
  const RunInfo& info = run.record->run;
  facts.push_back({"FLOPs of one sample", known(info.train_flops), "", "run.json: train_flops"});
  facts.push_back({"samples of one step", info.workload.samples_per_step, "", "run.json: workload.samples_per_step"});
  int64_t model = 0, simd = 0;
  for (const OpRow& op : info.ops) {
    model += op.forward.flop_model + op.backward.flop_model;
    simd += op.forward.flop_simd + op.backward.flop_simd;
  }
  facts.push_back({"model FLOPs of one step, op table", model, "", "run.json: ops, sum of flop_model"});
  facts.push_back({"elementwise FLOPs of one step, op table", simd, "", "run.json: ops, sum of flop_simd"});
  row_facts(run, facts);
  add_totals(run, facts);
  for (const char* roof : {"isa", "gemm"}) {
    const std::optional<Json> rates = maybe<Json>(info.peaks, roof);
    facts.push_back({cat("peak of ", info.workload.precision, ", ", roof),
                     known(rates ? maybe<double>(*rates, info.workload.precision.text()) : std::nullopt), "FLOP/s",
                     cat("run.json: peaks.", roof, ".", info.workload.precision)});
  }
}

constexpr std::string_view kRoofs =
    "FLOPs are analytic (docs/flops.md); the peak is measured before and after with the run's threads.";

constexpr Metric kFlopRateMetrics[] = {
    {.id = "flop_rate",
     .title = "FLOP rate",
     .group = MetricGroup::arithmetic,
     .unit = Unit::flop_rate,
     .unit_text = "FLOP/s",
     .what = "Model FLOPs of a step (forward and backward, dense, no recompute) times steps over the stable phase.",
     .formula = "FLOPs of a step * steps after warming up / sum of step times",
     .counts = "In: matrix-like operations forward and backward, dense, a multiply-add as 2. Out: elementwise work, "
               "recomputation, updates.",
     .how =
         "FLOPs of a step: train_flops * samples_per_step, else the sum of the op table; where rows are ragged, less "
         "what each row adds for those that a step had no work for. Time from the clean pass.",
     .source = "Counting rules: docs/flops.md.",
     .limits = "Analytic: a fast algorithm that does less work still counts in full.",
     .gate = MetricGate::timed,
     .inputs = flop_facts,
     .compute = model_flop_rate},
    {.id = "mfu",
     .title = "share of ISA peak",
     .group = MetricGroup::arithmetic,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "FLOP rate over the measured peak of the math type's register kernel at the run's threads.",
     .formula = "flop_rate / peak of the math type by instructions",
     .counts = "As flop_rate.",
     .how = kRoofs,
     .source = "Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, appendix B.",
     .limits = "Absent without a measured peak of the math type: no table stands in. Withheld when peaks drifted by "
               "more than 10 % or the share exceeds 1.02. Shares of different math types have different denominators.",
     .gate = MetricGate::share_of_peak,
     .inputs = flop_facts,
     .compute = mfu},
    {.id = "gemm_share",
     .title = "share of GEMM peak",
     .group = MetricGroup::arithmetic,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "FLOP rate over the best measured matrix product of the math type.",
     .formula = "flop_rate / best measured matrix product",
     .counts = "As flop_rate.",
     .how = kRoofs,
     .limits = "Above 1 is flagged roof-beaten: the sweep of products missed a better one.",
     .gate = MetricGate::share_of_peak,
     .inputs = flop_facts,
     .compute = gemm_share},
    {.id = "flop_utilization",
     .title = "FLOP utilization",
     .group = MetricGroup::arithmetic,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "Model and elementwise FLOPs over the ISA peak, whole stable phase (vector math types; matrix types: "
             "model FLOPs).",
     .formula = "(model FLOPs + elementwise FLOPs) of a step * steps after warming up / (peak * sum of step times)",
     .counts = "fp32 and fp64: model and elementwise FLOPs. bf16, fp16: model FLOPs alone, their elementwise work runs "
               "in fp32 vectors. Exponentials and roots are left out.",
     .how = kRoofs,
     .source = "Zhu et al. 2018, IISWC, 3.4.1 (there from hardware counters, over kernel time).",
     .limits = "Over all time of the clean pass; flop_utilization.active is over busy time and is larger.",
     .gate = MetricGate::share_of_peak,
     .inputs = flop_facts,
     .compute = flop_utilization},
};

}  // namespace

std::optional<double> flops_per_unit(const RunView& run) {
  const std::optional<double> of_step = own_flops_per_step(run.record->run, headline_steps(run));
  return of_step && run.units() > 0 ? std::optional(*of_step * static_cast<double>(run.stable_steps()) / run.units())
                                    : std::nullopt;
}

std::span<const Metric> flop_rate_metrics() { return kFlopRateMetrics; }

}  // namespace tbd
