#include "runner/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "graph/schedule.h"
#include "measure/clock.h"
#include "measure/energy.h"
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

int64_t steps_of(const StepsOrEpochs& length) { return static_cast<int64_t>(length.value); }

// What a training was asked for beside its workload, in run.json's environment.
Json options_json(const TrainOptions& options) {
  Json json = {{"steps", steps_of(options.length)}, {"pictures", options.pictures}};
  if (options.evaluate_every) json["evaluate_every"] = steps_of(*options.evaluate_every);
  if (options.rate) json["rate"] = *options.rate;
  if (options.until) json["until"] = to_text(*options.until);
  return json;
}
TrainOptions options_of(const Record& record) {
  const Json& json = record.run.environment->at("training");
  TrainOptions options{.workload = record.run.request};
  options.length.value = at<double>(json, "steps");
  if (const auto every = maybe<double>(json, "evaluate_every")) options.evaluate_every = StepsOrEpochs{*every};
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
  std::string created;  // the record
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
        begin_ns_(now_ns()),
        steps_(steps_of(options.length)) {}

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
    run.created = resumed_ ? resumed_->created : wall_label();
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
    look_at_data(worker.survey());
    if (options_.weights) worker.write_weights(*options_.weights);
    int64_t done = resumed_ ? restore(worker) : 0;
    const int64_t every = options_.evaluate_every ? steps_of(*options_.evaluate_every) : steps_;
    if (options_.evaluate_every && (result_.rows.empty() || result_.rows.back().step < done)) evaluate(worker, done);
    while (done < steps_ && !result_.reached.value_or(false)) {
      const int64_t steps = std::min(every - done % every, steps_ - done);
      train(worker, done + 1, steps, info);
      done += steps;
      save_state(worker, done);
      evaluate(worker, done);
    }
    result_.best = best_row(result_.rows, options_.until);
    result_.weights = folder_ / "weights.safetensors";
    worker.read_weights(result_.weights);
    worker.bye();
  }

  void train(TrainingWorker& worker, int64_t first, int64_t steps, LaunchInfo& info) {
    losses_.clear();
    const int64_t begin = now_ns();
    const std::optional<int64_t> energy = meter_.read_uj();
    const protocol::RunReply reply = worker.run(first, steps, [&](std::span<const StepRow> rows) {
      record_->append(rows);
      for (const StepRow& row : rows)
        if (row.loss) losses_.push_back(*row.loss);
      if (sink_.trained) tell(rows);
    });
    told_ns_ = 0;
    result_.training_seconds += 1e-9 * static_cast<double>(now_ns() - begin);
    if (const auto after = meter_.read_uj(); after && energy)
      joules_ = joules_.value_or(0) + 1e-6 * static_cast<double>(*after - *energy);
    if (!info.peak_rss_bytes) keep(reply.launch, info);
  }

  // A resumed training has to read the data that it began with.
  void look_at_data(const protocol::SurveyReply& data) {
    steps_per_epoch_ = data.steps_per_epoch;
    if (resumed_ && data.hash != resumed_->data_hash)
      fail(ErrorKind::usage, "the training began on data of content ", resumed_->data_hash.value_or("unknown"),
           ", but ", options_.workload.data, " has content ", data.hash.value_or("unknown"));
    cell_.prepared.run.workload.data_hash = data.hash;
    note_training_data(cell_.prepared.run, {data.samples, data.held_out, data.steps_per_epoch});
    record_->update(cell_.prepared.run);
  }

  // At each of the worker's messages but the first, which only begins the time.
  void tell(std::span<const StepRow> rows) {
    const int64_t now = now_ns(), since = std::exchange(told_ns_, now);
    const StepRow& last = rows.back();
    const int64_t steps = last.step - std::exchange(told_step_, last.step);
    if (since == 0 || now == since || steps < 1) return;
    const double seconds = 1e-9 * static_cast<double>(now - since);
    double units = 0;
    for (const StepRow& row : rows) units += row.units;
    sink_.trained({.step = last.step,
                   .steps = steps_,
                   .epoch = static_cast<double>(last.step) / static_cast<double>(steps_per_epoch_),
                   .loss = last.loss,
                   .rate = rate_at(last.step),
                   .units_per_second = units / seconds,
                   .seconds_left = seconds / static_cast<double>(steps) * static_cast<double>(steps_ - last.step),
                   .unit = cell_.prepared.run.workload.unit,
                   .best = best_row(result_.rows, options_.until)});
  }
  double rate_at(int64_t step) const {
    for (const Phase& phase : cell_.prepared.program.phases)
      if (!phase.wrt().empty())
        return learning_rate(phase.update.schedule, step, cell_.prepared.run.workload.samples_per_step);
    return 0;
  }

  int64_t restore(TrainingWorker& worker) {
    worker.write_state(resumed_->checkpoint.file);
    result_.rows = resumed_->rows;
    result_.training_seconds = resumed_->checkpoint.training_seconds;
    if (!result_.rows.empty()) joules_ = result_.rows.back().training_joules;
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
  }

  void evaluate(TrainingWorker& worker, int64_t step) {
    const bool last = step == steps_ || options_.until;  // which is the last a goal alone knows
    EvaluationRow row = worker.evaluate(step, 0, last ? options_.pictures : 0, record_->folder());
    row.training_seconds = result_.training_seconds;
    row.training_joules = joules_;
    if (!losses_.empty())
      row.training_loss = std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    result_.rows.push_back(row);
    write_file_atomic(folder_ / kEvaluationsFile, evaluation_lines(result_.rows));
    if (const auto best = best_row(result_.rows, options_.until); best && best->step == step) keep_best(worker, *best);
    if (sink_.evaluated) sink_.evaluated(row);
    if (options_.until) look_at_goal(*options_.until, row);
  }

  void keep_best(TrainingWorker& worker, const BestRow& best) {
    const fs::path folder = record_->folder() / "checkpoints";
    make_folder(folder);
    worker.read_weights(folder / "best.safetensors");
    write_file_atomic(folder / "best.json",
                      Json{{"step", best.step}, {"metric", best.metric}, {"value", best.value}}.dump(1) + "\n");
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
  int64_t begin_ns_, steps_, steps_per_epoch_ = 1;
  EnergyMeter meter_;
  std::optional<double> joules_;
  int64_t told_ns_ = 0, told_step_ = 0;  // of the last message; 0: none since the last evaluation
  fs::path folder_;
  std::vector<double> losses_;  // since the last evaluation
  TrainResult result_;
};

// A worker says how long an epoch is, before the one that trains has a schedule of so many steps.
TrainOptions in_steps(TrainOptions options, const RunnerSettings& settings) try {
  const bool epochs = options.length.epochs || (options.evaluate_every && options.evaluate_every->epochs);
  if (!epochs) return options;
  const Trainable cell = trainable(options.workload, std::nullopt, 1, settings);
  const TemporaryFolder scratch;
  TrainingWorker worker(cell, settings, scratch.path() / "worker.log");
  const auto each = static_cast<double>(worker.survey().steps_per_epoch);
  worker.bye();
  const auto steps = [&](const StepsOrEpochs& length) {
    return length.epochs ? StepsOrEpochs{std::max(1.0, std::round(length.value * each))} : length;
  };
  options.length = steps(options.length);
  if (options.evaluate_every) options.evaluate_every = steps(*options.evaluate_every);
  return options;
} catch (const WorkerFault& fault) {
  throw Error(fault.error(), fault.what());
}

}  // namespace

StepsOrEpochs steps_or_epochs_from(const std::string& text) {
  std::string_view number = text;
  bool epochs = false;
  for (const std::string_view unit : {"epochs", "epoch", "steps", "step"})
    if (number.ends_with(unit)) {
      number.remove_suffix(unit.size());
      epochs = unit.starts_with("epoch");
      break;
    }
  const std::optional<double> value = parse_double(number);
  if (!value || *value <= 0 || (!epochs && *value != std::floor(*value)))
    fail(ErrorKind::usage, "a length is a whole number of steps as in 250 or epochs as in 2epochs, got '", text, "'");
  return {*value, epochs};
}

TrainResult train(const TrainOptions& asked, const RunnerSettings& settings, const TrainSink& sink) {
  const TrainOptions options = in_steps(asked, settings);
  Trainable cell = trainable(options.workload, options.rate, steps_of(options.length), settings);
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
                    .created = record.run.created,
                    .launches = static_cast<int64_t>(record.launches.size())};
  if (point.checkpoint.step >= steps_of(options.length) || record.run.outcome.kind == OutcomeKind::ok)
    fail(ErrorKind::usage, folder.string(), " holds a training that ended after step ", point.checkpoint.step);
  if (const Launch* last = last_launch(record, Pass::kTrain))
    for (EvaluationRow& row : read_evaluations(launch_folder(record, *last)))
      if (row.step <= point.checkpoint.step) point.rows.push_back(std::move(row));
  Trainable cell = trainable(options.workload, options.rate, steps_of(options.length), settings);
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
