// A training, whatever it learns from: its record, its checkpoints, its best weights, its goal. What is learnt between
// two evaluations and how that is judged is a Course: a data set with a held-out part (runner/training.h), or games
// that the network plays against itself.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "record/evaluations.h"
#include "runner/checkpoint.h"
#include "runner/settings.h"

namespace tbd {

struct Trainable;
class TrainingWorker;

// While it trains, at most four times a second.
struct TrainProgress {
  int64_t step = 0, steps = 0;                    // done; in all, as far as is known
  double epoch = 0;                               // passes over the set, or generations, so far
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
  double training_seconds = 0;  // over all launches
  // Of this launch: in all, and in evaluations and checkpoints, best weights among them.
  double wall_seconds = 0, evaluation_seconds = 0, checkpoint_seconds = 0;
  int64_t checkpoints = 0;
  std::filesystem::path weights;  // the last
};

// Where a training is resumed: after a step, with what was known until then.
struct ResumePoint {
  std::optional<Checkpoint> checkpoint;  // nullopt: it was interrupted before its first, and begins again
  std::vector<EvaluationRow> rows;
  std::vector<double> losses;  // of the steps between the last of the rows and the checkpoint
  std::optional<std::string> data_hash;
  std::optional<TrainingData> data;
  std::string created;  // the record
  int64_t launches = 0;
};
// Throws Error(usage) for a record of no training and of one that had ended; as last_checkpoint does.
ResumePoint resume_point(const Record& record);
// The weights that the record's training began with; nullopt: drawn from the seed.
std::optional<std::filesystem::path> first_weights_of(const RunInfo& run);

class Course {
 public:
  virtual ~Course() = default;
  // What it was asked for, to be kept in run.json's environment, "training".
  virtual JsonValue options() const = 0;
  // Once, with the weights of step `done` written: looks at what there is to learn from, and notes it in the record.
  // `resumed`, with a checkpoint, where some of it was trained earlier. Throws Error where that cannot be learnt from,
  // or is not what it was.
  virtual void begin(TrainingWorker& worker, RunInfo& run, const ResumePoint* resumed) = 0;
  // Makes ready what is learnt after step `done`, and says for how many steps; 0: the training has ended. Its time
  // counts as training.
  virtual int64_t next_steps(TrainingWorker& worker, int64_t done) = 0;
  virtual bool evaluates_after(int64_t step) const = 0;  // 0: before the first
  // Step, samples, times and metrics; those of training are filled in.
  virtual EvaluationRow evaluate(TrainingWorker& worker, int64_t step) = 0;
  // Metrics that early evaluations lack: a goal in one of them is not reached until then.
  virtual std::vector<std::string> later_metrics() const { return {}; }
  virtual int64_t steps() const = 0;              // in all, as far as is known
  virtual double epochs(int64_t step) const = 0;  // as TrainProgress has them
};

struct TrainFrame {
  std::optional<Goal> until;                     // ends the training at the first evaluation that reaches it
  std::optional<std::filesystem::path> weights;  // to begin with, by parameter and buffer name; nullopt: of the seed
  std::filesystem::path out;                     // the record's folder; there is none yet, unless it is resumed
};

// Leaves a record with a launch of pass `train`: its steps, evaluations.jsonl and weights.safetensors; a checkpoint
// after each stretch of steps, within a long one from time to time, and at an interrupt; after the best evaluation
// checkpoints/best.safetensors (its weights) with best.json (its metric, value, step). Throws the worker's own reason;
// Error(usage) for a goal in a metric that the course lacks, naming those it has. The record says then how it ended,
// and keeps its curve.
TrainResult follow(Course& course, Trainable cell, const TrainFrame& frame, std::optional<ResumePoint> resumed,
                   const RunnerSettings& settings, const TrainSink& sink);

}  // namespace tbd
