// Training to a result: steps on a data set's own batches, and at times a pass over its held-out part.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/evaluations.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd {

// How long a training is, or how far apart evaluations are.
struct StepsOrEpochs {
  double value = 1;
  bool epochs = false;  // passes over the part of the set that is trained on; else steps
};
// "250" or "250steps"; "2epochs", "1epoch", "0.5epoch". Throws Error(usage) on another form and on 0 or less.
StepsOrEpochs steps_or_epochs_from(const std::string& text);

struct TrainOptions {
  Workload workload;  // its data set has a held-out part; batch 0: the network's usual one
  StepsOrEpochs length;
  std::optional<StepsOrEpochs> evaluate_every;  // nullopt: after the last step alone
  // Peak of a rate that rises over the first twentieth of the steps and falls to 0 by a cosine; nullopt: the network's
  // own schedule.
  std::optional<double> rate;
  std::optional<Goal> until;                     // ends the training at the first evaluation that reaches it
  std::optional<std::filesystem::path> weights;  // to begin with, by parameter and buffer name; nullopt: of the seed
  int64_t pictures = 0;                          // after the last evaluation, where the network's judge draws
  std::filesystem::path out;                     // the record's folder; there is none yet
};

// While it trains, at most four times a second.
struct TrainProgress {
  int64_t step = 0, steps = 0;
  double epoch = 0;                               // passes over the set so far
  std::optional<double> loss;                     // of the step, where the framework gives it
  double rate = 0;                                // the step's learning rate
  double units_per_second = 0, seconds_left = 0;  // evaluations aside; by the steps since the last message
  std::string unit;
  std::optional<BestRow> best;
};
struct TrainSink {  // each may be empty
  std::function<void(const EvaluationRow&)> evaluated = {};
  std::function<void(const TrainProgress&)> trained = {};
};

struct TrainResult {
  std::vector<EvaluationRow> rows;
  std::optional<BestRow> best;  // of the rows
  std::optional<bool> reached;  // the goal, in the last row; nullopt without one
  double training_seconds = 0, wall_seconds = 0;
  std::filesystem::path weights;  // the last
};

// Continues from the record's last checkpoint, with the options that the training began with, in a further launch.
// Throws Error as train does; not_found without a checkpoint; usage where it had ended, and where the data set, the
// network, an axis of the workload or the framework's version is another one, naming what differs.
TrainResult resume_training(const std::filesystem::path& record, const RunnerSettings& settings, const TrainSink& sink);

// Leaves a record with a launch of pass `train`: its steps, evaluations.jsonl and weights.safetensors;
// pictures, a checkpoint before each evaluation, and after the best one checkpoints/best.safetensors (its weights) with
// best.json (its metric, value, step).
// Throws Error as prepare does, and the worker's own reason; usage for a goal in a metric that the network lacks,
// naming those it has; unsupported for a network that the data set does not suit. The record says then how it ended,
// and keeps its curve.
TrainResult train(const TrainOptions& options, const RunnerSettings& settings, const TrainSink& sink);

struct EvaluateOptions {
  Workload workload;
  std::filesystem::path weights;
  int64_t samples = 0;   // up to a whole batch; 0: all
  int64_t pictures = 0;  // into the folder `pictures` of `out`
  std::filesystem::path out;
};
EvaluationRow evaluate_weights(const EvaluateOptions& options, const RunnerSettings& settings);

}  // namespace tbd
