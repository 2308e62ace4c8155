#include "cli/export_mllog.h"

#include <algorithm>
#include <ctime>
#include <ostream>

#include "analysis/cell.h"
#include "models/model.h"
#include "record/evaluation_rows.h"
#include "trace/import/mllog.h"

namespace tbd::cli {
namespace {

// "2026-01-31T12:00:00Z" in ms since the epoch; 0 where the label is another.
int64_t epoch_ms(const std::string& label) {
  std::tm time{};
  if (strptime(label.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) return 0;
  return static_cast<int64_t>(timegm(&time)) * 1000;
}

class Writer {
 public:
  Writer(std::ostream& out, int64_t time_ms) : out_(out), time_ms_(time_ms) {}
  void point(std::string key, Json value) { write("POINT_IN_TIME", std::move(key), std::move(value), nullptr); }
  void write(std::string type, std::string key, Json value, Json metadata) {
    out_ << mllog_line({.key = std::move(key),
                        .type = std::move(type),
                        .time_ms = time_ms_,
                        .value = std::move(value),
                        .metadata = std::move(metadata)});
  }
  void set(int64_t time_ms) { time_ms_ = time_ms; }

 private:
  std::ostream& out_;
  int64_t time_ms_;
};

int64_t duration_ms(const Record& record) {
  int64_t total = 0;
  for (const Launch& launch : record.launches)
    if (!launch.steps.empty()) total += launch.steps.back().completed_ns / 1'000'000;
  return total;
}

// A network without a public rule keeps its own name.
std::string benchmark_of(const std::string& name) {
  const auto model = std::ranges::find(all_models(), name, &Model::name);
  return model == all_models().end() || model->mlperf.empty() ? name : model->mlperf;
}

// Quality is not always called accuracy: what a training is judged by. "" where its rows have no metric.
std::string quality_of(const Attempt& attempt) {
  if (attempt.goal) return attempt.goal->metric;
  for (const EvaluationRow& row : attempt.rows)
    for (const auto& [name, value] : row.metrics)
      if (name != "loss") return name;
  return attempt.rows.empty() ? "" : "loss";
}

int64_t as_ms(double seconds) { return static_cast<int64_t>(seconds * 1000); }

void write_submission(const Record& record, Writer& log) {
  const MeasuredWorkload& w = record.run.workload;
  log.point("submission_benchmark", benchmark_of(w.model));
  log.point("submission_division", "open");
  log.point("submission_org", "tbd");
  log.point("submission_platform", cat(w.framework, " ", w.framework_version, " on ", w.device));
  log.point("submission_status", "research");
  log.point("tbd_note", "an open-form log, not an MLPerf result");
  log.point("tbd_model_hash", w.model_hash);
}

void write_preparation(const Attempt& attempt, Writer& log) {
  log.point("cache_clear", false);  // the rules ask that it be said
  log.write("INTERVAL_START", "init_start", nullptr, nullptr);
  log.point("seed", attempt.seed);
  log.point("global_batch_size", attempt.samples_per_step);
  log.point("train_samples", attempt.data->samples);
  log.point("eval_samples", attempt.data->held_out);
  log.point("tbd_quality", quality_of(attempt));
  log.write("INTERVAL_END", "init_stop", nullptr, nullptr);
}

void write_evaluations(const Attempt& attempt, Writer& log, int64_t start_ms) {
  const std::string quality = quality_of(attempt);
  double epoch = 0, evaluated = 0;  // seconds of the evaluations so far
  for (const EvaluationRow& row : attempt.rows) {
    const double first = epoch;
    epoch = static_cast<double>(row.step) / static_cast<double>(attempt.data->steps_per_epoch);
    if (row.step > 0) {
      const Json block = {{"first_epoch_num", first}, {"epoch_count", epoch - first}};
      log.write("INTERVAL_START", "block_start", nullptr, block);
      log.set(start_ms + as_ms(row.training_seconds + evaluated));
      log.write("INTERVAL_END", "block_stop", nullptr, {{"first_epoch_num", first}});
    }
    const Json at_epoch = {{"epoch_num", epoch}};
    log.write("INTERVAL_START", "eval_start", nullptr, at_epoch);
    evaluated += row.wall_seconds;
    log.set(start_ms + as_ms(row.training_seconds + evaluated));
    if (const auto found = row.metrics.find(quality); found != row.metrics.end())
      log.write("POINT_IN_TIME", "eval_accuracy", found->second, at_epoch);
    log.write("INTERVAL_END", "eval_stop", nullptr, at_epoch);
  }
}

void write_training(const Record& record, const Attempt& attempt, Writer& log, int64_t start_ms) {
  require(attempt.data.has_value(), record.folder.string(), " holds a training that ended before it read its data");
  write_submission(record, log);
  write_preparation(attempt, log);
  log.write("INTERVAL_START", "run_start", nullptr, nullptr);
  write_evaluations(attempt, log, start_ms);
  const bool good = record.run.outcome.kind == OutcomeKind::ok && (!attempt.goal || attempt.reached());
  log.write("INTERVAL_END", "run_stop", nullptr, {{"status", good ? "success" : "aborted"}});
}

}  // namespace

void write_mllog(const Record& record, std::ostream& out) {
  const MeasuredWorkload& w = record.run.workload;
  const int64_t start_ms = epoch_ms(record.run.created);
  Writer log(out, start_ms);
  if (const std::optional<Attempt> attempt = attempt_of(record)) {
    write_training(record, *attempt, log, start_ms);
    return;
  }
  log.point("submission_benchmark", w.model);
  if (w.samples_per_step > 0) log.point("global_batch_size", w.samples_per_step);
  log.point("seed", w.seed);
  log.point("tbd_framework", cat(w.framework, " ", w.framework_version));
  log.point("tbd_precision", w.precision);
  log.point("tbd_model_hash", w.model_hash);
  log.point("tbd_note", "a check of the format, no MLPerf result");
  log.write("INTERVAL_START", "run_start", nullptr, nullptr);
  log.set(start_ms + duration_ms(record));
  if (const auto rate = summarize(record)["throughput"].value)
    log.write("POINT_IN_TIME", "tracked_stats", {{"throughput", *rate}}, {{"unit", cat(w.unit, "/s")}});
  const bool good = record.run.outcome.kind == OutcomeKind::ok;
  log.write("INTERVAL_END", "run_stop", nullptr, {{"status", good ? "success" : "aborted"}});
}

}  // namespace tbd::cli
