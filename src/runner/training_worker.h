// A worker that trains and evaluates one workload, for trainings to a result.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/files.h"
#include "base/tensor.h"
#include "record/evaluations.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {

// A cell whose program answers on held-out data too, and on single batches.
struct Trainable {
  PreparedCell prepared;
  std::string phase;  // that is evaluated
  std::string judge;
  std::string answers;  // the phase that TrainingWorker::answer runs; empty: none
};

// With a schedule of `steps` steps where a peak rate is given (TrainOptions::rate). Throws Error as prepare does, and
// usage without a data set.
Trainable trainable(Workload workload, const std::optional<double>& rate, int64_t steps,
                    const RunnerSettings& settings);
// One that is asked about batches, and trained at that rate all along or by the network's own schedule. With a data set
// where it is to be trained.
Trainable answering(Workload workload, const std::optional<double>& rate, const RunnerSettings& settings);

// Every call throws WorkerFault.
class TrainingWorker {
 public:
  // Starts the worker and loads the program. `cell` and `settings` outlive it.
  TrainingWorker(const Trainable& cell, const RunnerSettings& settings, const std::filesystem::path& log);

  const protocol::HelloReply& hello() const { return hello_; }
  const protocol::LoadReply& loaded() const { return load_; }

  void write_weights(const std::filesystem::path& file);  // by public names
  void read_weights(const std::filesystem::path& to);     // the averages, where the network keeps some
  // All that a training needs to continue, by the names of a step's files.
  void write_state(const std::filesystem::path& file);
  void read_state(const std::filesystem::path& to);  // after an interrupt, too

  // Steps first ... first + steps - 1, or fewer where `enough` says so of the new rows, and after an interrupt, whose
  // step is finished unless it is too long. A loss that is not finite is a fault.
  protocol::RunReply run(int64_t first, int64_t steps, const std::function<bool(std::span<const StepRow>)>& enough);
  // `samples` 0: all; `pictures` of them go to the record `files`.
  EvaluationRow evaluate(int64_t step, int64_t samples, int64_t pictures, const std::filesystem::path& files);
  protocol::SurveyReply survey();  // of the workload's data set
  // What the network's outputs are, by name, for a whole batch of inputs by name. `seconds`: in the network.
  TensorMap answer(const TensorMap& inputs, double& seconds);
  void bye() { worker_.bye(); }

 private:
  bool keeps_averages() const;
  void read(std::vector<std::string> prefixes, const std::filesystem::path& file, double last_words = 0);

  const Trainable& cell_;
  const RunnerSettings& settings_;
  TemporaryFolder scratch_;
  WorkerProcess worker_;
  protocol::HelloReply hello_;
  protocol::LoadReply load_;
};

}  // namespace tbd
