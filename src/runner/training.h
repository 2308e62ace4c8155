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

struct TrainOptions {
  Workload workload;  // its data set has a held-out part; batch 0: the network's usual one
  int64_t steps = 1;
  int64_t evaluate_every = 0;  // steps; 0: after the last one alone
  // Peak of a rate that rises over the first twentieth of the steps and falls to 0 by a cosine; nullopt: the network's
  // own schedule.
  std::optional<double> rate;
  std::optional<std::filesystem::path> weights;  // to begin with, by parameter and buffer name; nullopt: of the seed
  int64_t pictures = 0;                          // after the last evaluation, where the network's judge draws
  std::filesystem::path out;                     // the record's folder; there is none yet
};

struct TrainResult {
  std::vector<EvaluationRow> rows;
  double training_seconds = 0, wall_seconds = 0;
  std::filesystem::path weights;  // the last
};

using TrainSink = std::function<void(const EvaluationRow& row)>;

// Leaves a record with a launch of pass `train`: its steps, evaluations.jsonl and weights.safetensors; and pictures.
// Throws Error as prepare does, and the worker's own reason; unsupported for a network that the data set does not suit.
// The record says then how it ended, and keeps its curve.
TrainResult train(const TrainOptions& options, const RunnerSettings& settings, const TrainSink& sink);

struct EvaluateOptions {
  Workload workload;
  std::filesystem::path weights;
  int64_t samples = 0;   // up to a whole batch; 0: all
  int64_t pictures = 0;  // into `out`
  std::filesystem::path out;
};
EvaluationRow evaluate_weights(const EvaluateOptions& options, const RunnerSettings& settings);

}  // namespace tbd
