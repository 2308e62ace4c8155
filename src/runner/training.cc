#include "runner/training.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "record/axes.h"
#include "record/reader.h"
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
  return json;
}
TrainOptions options_of(const Record& record) {
  const Json& json = record.run.environment->at("training");
  TrainOptions options{.workload = record.run.request};
  options.length.value = at<double>(json, "steps");
  if (const auto every = maybe<double>(json, "evaluate_every")) options.evaluate_every = StepsOrEpochs{*every};
  options.rate = maybe<double>(json, "rate");
  if (const auto goal = maybe<std::string>(json, "until")) options.until = goal_from(*goal);
  options.weights = first_weights_of(record.run);
  options.pictures = at<int64_t>(json, "pictures");
  options.out = record.folder;
  return options;
}

// The batches of a data set; judged on its held-out part.
class SetCourse final : public Course {
 public:
  explicit SetCourse(const TrainOptions& options) : options_(options), steps_(steps_of(options.length)) {
    every_ = options.evaluate_every ? steps_of(*options.evaluate_every) : steps_;
  }

  JsonValue options() const override { return {options_json(options_)}; }

  // A resumed training has to read the data that it began with.
  void begin(TrainingWorker& worker, RunInfo& run, const ResumePoint* resumed) override {
    const protocol::SurveyReply data = worker.survey();
    steps_per_epoch_ = data.steps_per_epoch;
    if (resumed && data.hash != resumed->data_hash)
      fail(ErrorKind::usage, "the training began on data of content ", resumed->data_hash.value_or("unknown"), ", but ",
           options_.workload.data, " has content ", data.hash.value_or("unknown"));
    run.workload.data_hash = data.hash;
    note_training_data(run, {data.samples, data.held_out, data.steps_per_epoch});
  }

  int64_t next_steps(TrainingWorker&, int64_t done) override { return std::min(every_ - done % every_, steps_ - done); }
  bool evaluates_after(int64_t step) const override {
    return step == steps_ || (options_.evaluate_every && step % every_ == 0);
  }
  EvaluationRow evaluate(TrainingWorker& worker, int64_t step) override {
    const bool last = step == steps_ || options_.until;  // which is the last a goal alone knows
    return worker.evaluate(step, 0, last ? options_.pictures : 0, options_.out);
  }
  int64_t steps() const override { return steps_; }
  double epochs(int64_t step) const override {
    return static_cast<double>(step) / static_cast<double>(steps_per_epoch_);
  }

 private:
  const TrainOptions& options_;
  int64_t steps_, every_ = 1, steps_per_epoch_ = 1;
};

TrainFrame frame_of(const TrainOptions& options) {
  return {.until = options.until, .weights = options.weights, .out = options.out};
}

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
  SetCourse course(options);
  return follow(course, std::move(cell), frame_of(options), {}, settings, sink);
}

TrainResult resume_training(const fs::path& folder, const RunnerSettings& settings, const TrainSink& sink) {
  const Record record = read_record(folder);
  ResumePoint point = resume_point(record);
  const TrainOptions options = options_of(record);
  Trainable cell = trainable(options.workload, options.rate, steps_of(options.length), settings);
  MeasuredWorkload wanted = cell.prepared.run.workload;
  wanted.data_hash = record.run.workload.data_hash;
  if (const std::string differs = difference(record.run.workload, wanted, false); !differs.empty())
    fail(ErrorKind::usage, folder.string(), " cannot go on: ", differs);
  SetCourse course(options);
  return follow(course, std::move(cell), frame_of(options), std::move(point), settings, sink);
}

std::string training_difference(const Record& record, const TrainOptions& options) {
  for (const Axis& axis : axes()) {
    if (axis.print(options.workload).empty()) continue;
    const std::string there = axis.value(record.run.request), here = axis.value(options.workload);
    if (there != here) return cat(axis.name, " ", there, " there, ", here, " here");
  }
  const TrainOptions kept = options_of(record);
  const auto told = [](std::string_view what, const std::string& there, const std::string& here) {
    return there == here ? "" : cat(what, " ", there, " there, ", here, " here");
  };
  const auto length = [](const std::optional<StepsOrEpochs>& each) {
    return each ? cat(steps_of(*each)) : std::string("none");
  };
  std::string found;
  if (!options.length.epochs) found = told("steps", length(kept.length), length(options.length));
  if (found.empty() && !(options.evaluate_every && options.evaluate_every->epochs))
    found = told("evaluate-every", length(kept.evaluate_every), length(options.evaluate_every));
  if (found.empty())
    found = told("lr", kept.rate ? cat(*kept.rate) : "none", options.rate ? cat(*options.rate) : "none");
  const auto goal = [](const std::optional<Goal>& each) { return each ? to_text(*each) : std::string("none"); };
  return found.empty() ? told("until", goal(kept.until), goal(options.until)) : found;
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
