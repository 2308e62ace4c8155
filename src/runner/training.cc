#include "runner/training.h"

#include <algorithm>
#include <numeric>

#include "base/files.h"
#include "base/json.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "record/reader.h"
#include "record/writer.h"
#include "runner/checkpoint.h"
#include "runner/resume.h"
#include "runner/training_worker.h"
#include "runner/weights_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

bool less_is_better(std::string_view metric) {
  return metric.find("loss") != metric.npos || metric.find("error") != metric.npos ||
         metric.find("perplexity") != metric.npos;
}

// What a training was asked for beside its workload, in run.json's environment.
Json options_json(const TrainOptions& options) {
  Json json = {{"steps", options.steps}, {"evaluate_every", options.evaluate_every}, {"pictures", options.pictures}};
  if (options.rate) json["rate"] = *options.rate;
  if (options.until) json["until"] = cat(options.until->metric, "=", Json(options.until->value).dump());
  return json;
}
TrainOptions options_of(const Record& record) {
  const Json& json = record.run.environment->at("training");
  TrainOptions options{.workload = record.run.request};
  options.steps = at<int64_t>(json, "steps");
  options.evaluate_every = at<int64_t>(json, "evaluate_every");
  options.rate = maybe<double>(json, "rate");
  if (const auto goal = maybe<std::string>(json, "until")) options.until = goal_from(*goal);
  options.pictures = at<int64_t>(json, "pictures");
  options.out = record.folder;
  return options;
}

// Where a training is resumed: after a step, with what was known until then.
struct ResumePoint {
  Checkpoint checkpoint;
  std::vector<EvaluationRow> rows;
  std::optional<std::string> data_hash;
  int64_t launches = 0;
};

class Training {
 public:
  Training(const TrainOptions& options, Trainable cell, const RunnerSettings& settings, const TrainSink& sink,
           std::optional<ResumePoint> point = {})
      : options_(options),
        cell_(std::move(cell)),
        settings_(settings),
        sink_(sink),
        resumed_(std::move(point)),
        record_(resumed_ ? RecordWriter::reopen(options.out, begun())
                         : std::make_unique<RecordWriter>(options.out, begun())),
        begin_ns_(now_ns()) {}

  TrainResult run() {
    LaunchInfo info{.pass = Pass::kTrain, .number = resumed_ ? resumed_->launches + 1 : 1, .start = wall_label()};
    info.environment_hash = environment_hash(cell_.prepared.run.environment);
    folder_ = record_->begin_launch(info);
    std::optional<Error> error;
    try {
      go(info);
    } catch (const WorkerFault& fault) {
      info.outcome = fault.outcome();
      error.emplace(fault.error(), with_hint(fault));
    } catch (const Error& e) {
      info.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = ""};
      error = e;
    }
    record_->end_launch(info);
    record_->finish(cell_.prepared.run, info.outcome);
    if (error) throw *error;
    result_.wall_seconds = 1e-9 * static_cast<double>(now_ns() - begin_ns_);
    return std::move(result_);
  }

 private:
  std::string with_hint(const WorkerFault& fault) const {
    const bool can = fault.outcome().kind == OutcomeKind::interrupted && is_file(record_->folder() / kLastCheckpoint);
    return can ? cat(fault.what(), ": continue with 'tbd train --resume ", record_->folder().string(), "'")
               : std::string(fault.what());
  }

  const RunInfo& begun() {
    RunInfo& run = cell_.prepared.run;
    run.environment = capture_environment(settings_.environment);
    run.environment["training"] = options_json(options_);
    return run;
  }

  void go(LaunchInfo& info) {
    TrainingWorker worker(cell_, settings_, folder_ / "worker.log");
    cell_.prepared.run.workload.framework_version = worker.hello().framework_version;
    cell_.prepared.run.environment["framework"] = worker.hello().build;
    info.load_seconds = worker.loaded().seconds;
    info.parameters_seen = worker.loaded().parameters;
    info.threads = worker.loaded().threads;
    if (options_.weights) worker.write_weights(*options_.weights);
    int64_t done = resumed_ ? restore(worker) : 0;
    const int64_t every = options_.evaluate_every > 0 ? options_.evaluate_every : options_.steps;
    if (options_.evaluate_every > 0 && done == 0) evaluate(worker, 0);
    while (done < options_.steps && !result_.reached.value_or(false)) {
      const int64_t steps = std::min(every - done % every, options_.steps - done);
      train(worker, done + 1, steps, info);
      done += steps;
      save_state(worker, done);
      evaluate(worker, done);
    }
    result_.weights = folder_ / "weights.safetensors";
    worker.read_weights(result_.weights);
    worker.bye();
  }

  void train(TrainingWorker& worker, int64_t first, int64_t steps, LaunchInfo& info) {
    losses_.clear();
    const int64_t begin = now_ns();
    const protocol::RunReply reply = worker.run(first, steps, [&](std::span<const StepRow> rows) {
      record_->append(rows);
      for (const StepRow& row : rows)
        if (row.loss) losses_.push_back(*row.loss);
    });
    result_.training_seconds += 1e-9 * static_cast<double>(now_ns() - begin);
    if (!info.peak_rss_bytes) keep(reply.launch, info);
  }

  int64_t restore(TrainingWorker& worker) {
    worker.write_state(resumed_->checkpoint.file);
    result_.rows = resumed_->rows;
    result_.training_seconds = resumed_->checkpoint.training_seconds;
    return resumed_->checkpoint.step;
  }

  void save_state(TrainingWorker& worker, int64_t step) {
    write_checkpoint(record_->folder(), {.step = step, .training_seconds = result_.training_seconds, .file = {}},
                     [&](const fs::path& file) { worker.read_state(file); });
  }

  // What the worker says of its process and its data.
  void keep(const Json& launch, LaunchInfo& info) {
    Json known = to_json(info);
    for (const auto& [key, value] : launch.items()) known[key] = value;
    const Outcome outcome = info.outcome;
    info = launch_from_json(known);
    info.outcome = outcome;
    if (!info.host->contains("data")) return;
    const auto hash = maybe<std::string>(info.host["data"], "hash");
    if (resumed_ && hash != resumed_->data_hash)
      fail(ErrorKind::usage, "the training began on data of content ", resumed_->data_hash.value_or("unknown"),
           ", but ", options_.workload.data, " has content ", hash.value_or("unknown"));
    cell_.prepared.run.workload.data_hash = hash;
    record_->update(cell_.prepared.run);  // a resumed training compares with it
  }

  void evaluate(TrainingWorker& worker, int64_t step) {
    const bool last = step == options_.steps || options_.until;  // which is the last a goal alone knows
    EvaluationRow row = worker.evaluate(step, 0, last ? options_.pictures : 0, record_->folder());
    row.training_seconds = result_.training_seconds;
    if (!losses_.empty())
      row.training_loss = std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    result_.rows.push_back(row);
    write_file_atomic(folder_ / kEvaluationsFile, evaluation_lines(result_.rows));
    sink_(row);
    if (options_.until) look_at_goal(*options_.until, row);
  }

  void look_at_goal(const Goal& goal, const EvaluationRow& row) {
    const auto found = row.metrics.find(goal.metric);
    if (found != row.metrics.end()) {
      result_.reached = goal.reached_by(found->second);
      return;
    }
    std::vector<std::string> known;
    for (const auto& [name, value] : row.metrics) known.push_back(name);
    fail(ErrorKind::usage, unknown_name("metric", goal.metric, known));
  }

  const TrainOptions& options_;
  Trainable cell_;
  const RunnerSettings& settings_;
  const TrainSink& sink_;
  std::optional<ResumePoint> resumed_;
  std::unique_ptr<RecordWriter> record_;
  int64_t begin_ns_;
  fs::path folder_;
  std::vector<double> losses_;  // since the last evaluation
  TrainResult result_;
};

}  // namespace

bool Goal::reached_by(double measured) const { return less_is_better(metric) ? measured <= value : measured >= value; }

Goal goal_from(const std::string& text) {
  const size_t equals = text.find('=');
  const std::optional<double> value = equals == text.npos ? std::nullopt : parse_double(text.substr(equals + 1));
  if (!value || equals == 0) fail(ErrorKind::usage, "a goal is METRIC=VALUE, got '", text, "'");
  return {text.substr(0, equals), *value};
}

TrainResult train(const TrainOptions& options, const RunnerSettings& settings, const TrainSink& sink) {
  if (options.steps < 1) fail(ErrorKind::usage, "steps must be 1 or more, got ", options.steps);
  Trainable cell = trainable(options.workload, options.rate, options.steps, settings);
  if (options.weights) check_weights(*options.weights, cell.prepared.program, cell.prepared.run.workload.model);
  return Training(options, std::move(cell), settings, sink).run();
}

TrainResult resume_training(const fs::path& folder, const RunnerSettings& settings, const TrainSink& sink) {
  const Record record = read_record(folder);
  if (!record.run.environment->contains("training"))
    fail(ErrorKind::usage, folder.string(), " is no record of a training");
  const TrainOptions options = options_of(record);
  ResumePoint point{.checkpoint = last_checkpoint(folder),
                    .rows = {},
                    .data_hash = record.run.workload.data_hash,
                    .launches = static_cast<int64_t>(record.launches.size())};
  if (point.checkpoint.step >= options.steps || record.run.outcome.kind == OutcomeKind::ok)
    fail(ErrorKind::usage, folder.string(), " holds a training that ended after step ", point.checkpoint.step);
  if (const Launch* last = last_launch(record, Pass::kTrain))
    for (EvaluationRow& row : read_evaluations(launch_folder(record, *last)))
      if (row.step <= point.checkpoint.step) point.rows.push_back(std::move(row));
  Trainable cell = trainable(options.workload, options.rate, options.steps, settings);
  MeasuredWorkload wanted = cell.prepared.run.workload;
  wanted.data_hash = record.run.workload.data_hash;
  if (const std::string differs = difference(record.run.workload, wanted, false); !differs.empty())
    fail(ErrorKind::usage, folder.string(), " cannot go on: ", differs);
  return Training(options, std::move(cell), settings, sink, std::move(point)).run();
}

EvaluationRow evaluate_weights(const EvaluateOptions& options, const RunnerSettings& settings) try {
  const Trainable cell = trainable(options.workload, std::nullopt, 1, settings);
  check_weights(options.weights, cell.prepared.program, cell.prepared.run.workload.model);
  const TemporaryFolder scratch;
  TrainingWorker worker(cell, settings, scratch.path() / "worker.log");
  worker.write_weights(options.weights);
  if (options.pictures > 0) make_folder(options.out);
  const EvaluationRow row = worker.evaluate(0, options.samples, options.pictures, options.out);
  worker.bye();
  return row;
} catch (const WorkerFault& fault) {
  throw Error(fault.error(), fault.what());
}

}  // namespace tbd
