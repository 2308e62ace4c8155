// Each traced step is replayed with its own times; the prediction is the median of the replays.
#include "analysis/prediction.h"

#include <algorithm>
#include <cmath>

#include "analysis/gates.h"
#include "analysis/link_model.h"
#include "analysis/profile/parts.h"
#include "analysis/run_view.h"
#include "base/bucket_sizes.h"
#include "base/error.h"
#include "base/link_limits.h"
#include "base/philox.h"
#include "base/text.h"
#include "record/axes.h"
#include "stats/effort.h"
#include "stats/series.h"

namespace tbd {
namespace {

constexpr uint32_t kStepResamples = 400;
constexpr int64_t kVotes = 64;  // bytes: losses and votes to end, which ranks sum after each step

std::string profile_line(const Record& record) {
  const std::string line = record.run.workload.repro;
  return line.starts_with("tbd run") ? cat("tbd profile", line.substr(7)) : "tbd profile";
}

void scale_by(TracedGradients& traced, double factor) {
  for (GradientTimes& step : traced.steps) {
    for (double& ready : step.ready) ready *= factor;
    step.backward_end *= factor;
    step.end *= factor;
  }
}

double median_end(const TracedGradients& traced) {
  std::vector<double> ends;
  for (const GradientTimes& step : traced.steps) ends.push_back(step.end);
  return median(ends);
}

std::vector<double> median_ready(const OneWorker& one) {
  std::vector<double> out;
  for (size_t i = 0; i < one.gradients.size(); ++i) {
    std::vector<double> each;
    for (const GradientTimes& step : one.traced.steps) each.push_back(step.ready[i]);
    out.push_back(median(each));
  }
  return out;
}

DType sent_as(const WireType& wire, DType own) {
  if (wire == WireType::kBf16) return DType::bf16;
  return wire == WireType::kFp16 ? DType::f16 : own;
}

// The steps as they are with so many workers, and what replays them.
struct Replays {
  std::vector<StepTimes> steps;
  ExchangeCost cost;
  double speed = 1;       // beside the others: own work and the processing of sums take 1 / speed times as long
  bool votes_too = true;  // they are a sum of their own

  BucketSum sum(int64_t bytes, Bound bound) const {
    BucketSum out = cost.sum(bytes, bound);
    out.busy /= speed;
    out.time = std::max(out.time, out.busy);
    if (out.holds) out.holds = std::max(*out.holds, out.busy);
    return out;
  }
  ReplayedStep one(const StepTimes& times, Bound bound) const {
    ReplayedStep step = replayed_step(times, [&](int64_t bytes) { return sum(bytes, bound); });
    const double votes = votes_too ? cost.seconds(kVotes, bound) : 0;
    step.step += votes;
    step.exchange += votes;
    step.exposed += votes;
    return step;
  }
  std::vector<ReplayedStep> all(Bound bound) const {
    std::vector<ReplayedStep> out;
    for (const StepTimes& times : steps) out.push_back(one(times, bound));
    return out;
  }
};

double median_of(const std::vector<ReplayedStep>& steps, double ReplayedStep::*member) {
  std::vector<double> values;
  for (const ReplayedStep& step : steps) values.push_back(step.*member);
  return median(values);
}

// Of the median, by drawing steps with replacement.
double resampled_quantile(const std::vector<ReplayedStep>& steps, double q) {
  std::vector<double> medians;
  for (uint32_t resample = 0; resample < kStepResamples; ++resample) {
    const Philox random(0, "predict", resample);
    std::vector<double> drawn;
    for (size_t i = 0; i < steps.size(); ++i)
      drawn.push_back(steps[static_cast<size_t>(random.uniform(i) * static_cast<double>(steps.size()))].step);
    medians.push_back(median(drawn));
  }
  return quantile(medians, q);
}

Replays replays_of(const OneWorker& one, const Together& of, const ExchangeCost& cost,
                   const std::optional<double>& contention) {
  Replays out{.steps = {}, .cost = cost, .speed = contention.value_or(1), .votes_too = !contention};
  const auto buckets = buckets_of(one.engine, one.gradients, median_ready(one), of.bucket_bytes.value_or(kBucketBytes));
  TracedGradients traced = one.traced;
  scale_by(traced, 1 / contention.value_or(1));
  for (const GradientTimes& times : traced.steps)
    out.steps.push_back(
        replayable_step(times, buckets, one.gradients, [&](DType own) { return sent_as(of.wire, own); }));
  return out;
}

// All but how several workers go together and what they run on.
bool is_alike(const MeasuredWorkload& one, const MeasuredWorkload& several) {
  std::vector<std::string_view> keys = {"workers", "threads"};
  for (const Axis& axis : axes())
    if (axis.of_several) keys.push_back(axis.key);
  return alike_but(keys, one, several);
}

const Record* twin_without_exchange(const Record& several, std::span<const Record> records) {
  const MeasuredWorkload& w = several.run.workload;
  const Record* found = nullptr;
  for (const Record& record : records) {
    const MeasuredWorkload& other = record.run.workload;
    if (other.exchange != ExchangeMode::kNone || other.workers != w.workers || other.threads != w.threads) continue;
    if (!is_alike(other, w) || !clean_step_seconds(record)) continue;
    if (!found || other.link == w.link) found = &record;
  }
  return found;
}

std::string why_no_verdict(const OneWorker& one, const Record& several) {
  const MeasuredWorkload &w = several.run.workload, &alone = one.record->run.workload;
  if (w.threads != alone.threads)
    return cat("one worker had ", alone.threads, w.threads == 1 ? " thread" : " threads", ", of ", w.workers,
               " each had ", w.threads);
  if (!one.scale) return "the one worker has no clean step to compare with";
  if (!clean_step_seconds(several)) return cat("it has no steps (", name(several.run.outcome.kind), ")");
  return "";
}

std::string other_work_on(const Record& record) {
  const Judgement judgement = judge(view(record));
  return judgement.grade == name(Grade::disturbed) ? judgement.grade_reason : "";
}

std::string link_name(const Link& link) { return link.empty() ? std::string(kLoopback) : link.text(); }

std::string wire_words(const Together& of) {
  std::string words = of.wire == WireType::kSame ? "" : of.wire.text();
  if (of.bucket_bytes) words += cat(words.empty() ? "" : ", ", "buckets of ", format_bytes(*of.bucket_bytes));
  return words;
}

Table predictions_table(const OneWorker& one, const PredictionReport& report) {
  const MeasuredWorkload& w = one.record->run.workload;
  Table table{.title = cat("Predicted for several workers: ", w.model, " (", w.config, "), ", w.framework, " ",
                           w.framework_version, ", batch ", w.batch, " each; one takes ",
                           format_seconds(one.step_seconds), " a step")};
  table.columns = {{"workers", "workers", Unit::count},
                   {"link", "link"},
                   {"wire", "wire"},
                   {"step_s", "step", Unit::seconds},
                   {"low_s", "95 % from", Unit::seconds},
                   {"high_s", "to", Unit::seconds},
                   {"efficiency", "efficiency", Unit::fraction},
                   {"exchange_s", "exchange", Unit::seconds},
                   {"exposed_s", "exposed", Unit::seconds},
                   {"basis", "times of sums"}};
  for (const Prediction& each : report.predictions) {
    std::vector<TableCell> row = {each.of.workers, link_name(each.of.link), wire_words(each.of)};
    const std::string withheld_for = withheld(report, each.of.workers);
    const std::string reason = each.missing.empty() ? withheld_for : each.missing;
    if (reason.empty())
      row.insert(row.end(), {each.step, each.low, each.high, each.efficiency, each.exchange, each.exposed, each.basis});
    else
      row.insert(row.end(), {{}, {}, {}, {}, {}, {}, "withheld"});
    table.rows.push_back(std::move(row));
    const std::string note =
        cat(each.of.workers, " workers over ", link_name(each.of.link), ": withheld: ", reason, ".");
    if (!reason.empty()) table.notes.push_back(note);
  }
  return table;
}

Table measured_table(const PredictionReport& report) {
  Table table{.title = "The same prediction of what was measured"};
  table.columns = {{"measured_workers", "workers", Unit::count},
                   {"link", "link"},
                   {"wire", "wire"},
                   {"measured_s", "measured", Unit::seconds},
                   {"alone_s", "predicted", Unit::seconds},
                   {"alone_error", "error", Unit::fraction},
                   {"contention", "contention", Unit::fraction},
                   {"predicted_s", "with it", Unit::seconds},
                   {"error", "error", Unit::fraction},
                   {"marked", "mark"},
                   {"basis", "times of sums"}};
  for (const Validation& each : report.measured) {
    const Together& of = each.alone.of;
    std::vector<TableCell> row = {of.workers, link_name(of.link), wire_words(of)};
    const std::string reason = each.undecided.empty() ? each.alone.missing : each.undecided;
    if (!reason.empty()) {
      row.insert(
          row.end(),
          {cell(each.measured > 0 ? std::optional(each.measured) : std::nullopt), {}, {}, {}, {}, {}, "undecided", {}});
      table.notes.push_back(cat(of.workers, " workers over ", link_name(of.link), ": undecided: ", reason, "."));
    } else {
      const auto& with = each.with_contention;
      row.insert(row.end(), {each.measured, each.alone.step, each.alone.step / each.measured - 1, cell(each.contention),
                             with ? TableCell(with->step) : TableCell(),
                             with ? TableCell(with->step / each.measured - 1) : TableCell(),
                             each.is_marked() ? "off" : "", each.alone.basis});
    }
    table.rows.push_back(std::move(row));
  }
  const auto disturbed = std::ranges::count_if(report.measured, [](const auto& row) { return !row.disturbed.empty(); });
  const auto first = std::ranges::find_if(report.measured, [](const auto& row) { return !row.disturbed.empty(); });
  if (disturbed > 0)
    table.notes.push_back(cat(disturbed, " of ", report.measured.size(), " rows were disturbed, or the one worker (",
                              first->disturbed, "): their errors are those of a busy machine, too."));
  table.notes.push_back(
      "Contention: what is left of a worker's speed beside the others without an exchange (--exchange none). The "
      "second "
      "prediction has it; the mark is of that where there is one.");
  return table;
}

std::vector<std::string> notes_of(const OneWorker& one, const PredictionReport& report) {
  std::vector<std::string> notes;
  if (one.scale)
    notes.push_back(cat("Times of ", one.traced.steps.size(), " traced steps, each times ", significant(*one.scale, 3),
                        ": the clean step over the traced one."));
  else
    notes.push_back(cat("Times of ", one.traced.steps.size(),
                        " traced steps as they are: the record has no clean step, so what tracing costs is in them."));
  if (!one.traced.unseen.empty())
    notes.push_back(cat("The trace names no backward work for ", one.traced.unseen.size(), " of ", one.gradients.size(),
                        " gradients (", one.traced.unseen.front(), "): they count as ready at the end of backward."));
  if (report.measured.empty())
    notes.push_back("Nothing was measured with several workers: the error of this prediction is not known.");
  notes.push_back("Each worker is taken to have a machine of its own: no contention.");
  return notes;
}

}  // namespace

std::optional<double> clean_step_seconds(const Record& record) {
  const StepTotals totals = headline_steps(view(record));
  if (totals.steps == 0 || totals.seconds <= 0) return std::nullopt;
  return totals.seconds / static_cast<double>(totals.steps);
}

OneWorker one_worker(const Record& record, std::string engine, std::vector<Gradient> gradients) try {
  require(record.run.workload.workers == 1, "of ", record.run.workload.workers,
          " workers: a prediction starts from one");
  const std::unique_ptr<TracedSteps> traced = traced_steps(record);
  require(traced != nullptr, "no trace, which says when gradients are ready: '", profile_line(record), "' makes one");
  OneWorker out{
      .record = &record, .engine = std::move(engine), .gradients = std::move(gradients), .traced = {}, .scale = {}};
  out.traced = gradient_times(traced->rank, traced->windows, out.gradients);
  out.step_seconds = median_end(out.traced);
  if (const std::optional<double> clean = clean_step_seconds(record)) {
    out.scale = *clean / out.step_seconds;
    out.step_seconds = *clean;
    scale_by(out.traced, *out.scale);
  }
  return out;
} catch (const Error& e) {
  throw e.within(record.folder.string());
}

Prediction predicted(const OneWorker& one, const Together& of, std::span<const NamedSweep> sweeps,
                     const std::optional<double>& contention) {
  Prediction out{.of = of};
  if (one.engine == "kvstore" && of.wire != WireType::kSame) {
    out.missing = "mxnet's key-value store has no other type on the wire";
    return out;
  }
  const DType own = one.gradients.front().dtype;
  if (!std::ranges::all_of(one.gradients, [&](const Gradient& each) { return each.dtype == own; })) {
    out.missing = "its gradients have several types";
    return out;
  }
  const FoundCost found = exchange_cost(
      sweeps, {.dtype = sent_as(of.wire, own), .workers = of.workers, .link = of.link, .alpha = of.alpha});
  out.missing = found.missing;
  if (!found.cost) return out;
  const Replays replays = replays_of(one, of, *found.cost, contention);
  const std::vector<ReplayedStep> steps = replays.all(Bound::value);
  out.step = median_of(steps, &ReplayedStep::step);
  out.exchange = median_of(steps, &ReplayedStep::exchange);
  out.exposed = median_of(steps, &ReplayedStep::exposed);
  out.low = resampled_quantile(replays.all(Bound::low), 0.025);
  out.high = resampled_quantile(replays.all(Bound::high), 0.975);
  out.efficiency = one.step_seconds / out.step;
  out.basis = found.cost->basis;
  return out;
}

double Validation::error() const { return (with_contention ? with_contention->step : alone.step) / measured - 1; }

std::vector<Validation> validations(const OneWorker& one, std::span<const Record> records,
                                    std::span<const NamedSweep> sweeps) {
  std::vector<Validation> out;
  for (const Record& record : records) {
    const MeasuredWorkload& w = record.run.workload;
    if (w.workers == 1 || w.exchange != ExchangeMode::kAllReduce || !is_alike(one.record->run.workload, w)) continue;
    const Together of = {.workers = w.workers, .link = w.link, .wire = w.wire, .bucket_bytes = w.bucket_bytes};
    Validation& row = out.emplace_back(Validation{.record = &record, .alone = predicted(one, of, sweeps)});
    row.measured = clean_step_seconds(record).value_or(0);
    row.undecided = why_no_verdict(one, record);
    for (const Record* each : {one.record, &record})
      if (row.disturbed.empty()) row.disturbed = other_work_on(*each);
    const Record* beside = twin_without_exchange(record, records);
    if (!row.undecided.empty() || !row.alone.missing.empty() || !beside) continue;
    row.contention = one.step_seconds / *clean_step_seconds(*beside);
    row.with_contention = predicted(one, of, sweeps, *row.contention);
  }
  return out;
}

std::string withheld(const PredictionReport& report, int64_t workers) {
  int64_t most = 0;
  const Validation* worst = nullptr;
  for (const Validation& row : report.measured) {
    if (!row.undecided.empty() || !row.alone.missing.empty()) continue;
    most = std::max(most, row.alone.of.workers);
    if (row.is_marked() && (!worst || std::abs(row.error()) > std::abs(worst->error()))) worst = &row;
  }
  if (!worst || workers <= kBeyond * most) return "";
  return cat("the prediction of ", worst->alone.of.workers, " workers over ", link_name(worst->alone.of.link),
             " is off by ", format_percent(std::abs(worst->error())), ", and more than ", format_percent(kDoubtful),
             " on any row leaves nothing to say beyond ", kBeyond * most, " workers");
}

std::vector<Table> prediction_tables(const OneWorker& one, const PredictionReport& report) {
  std::vector<Table> tables = {predictions_table(one, report)};
  for (std::string& note : notes_of(one, report)) tables.front().notes.push_back(std::move(note));
  if (!report.measured.empty()) tables.push_back(measured_table(report));
  return tables;
}

}  // namespace tbd
