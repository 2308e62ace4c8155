// A worker of PyTorch that learns on a small real set of the set-up (docs/data.md) and is looked at on held-out
// samples.
#pragma once
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/tensor.h"
#include "runner/plan.h"
#include "runner/settings.h"
#include "runner/worker_process.h"

namespace tbd {

// Where the set-up puts its sets; one that is whole has a file .ready.
std::filesystem::path small_sets();

// The cell's program on a fresh worker with weights of the cell's seed. Files that it needs lie in `folder`.
class LessonWorker {
 public:
  LessonWorker(const Workload& cell, const RunnerSettings& settings, const std::filesystem::path& folder);
  ~LessonWorker();

  // Mean loss of `steps` steps at the rate `lr` on batches of `source` (the keys of docs/data.md, laid over what a run
  // of this cell tells its worker). With `phase`, that phase alone runs, once a step.
  double mean_loss(const Json& source, int64_t steps, double lr, const std::optional<std::string>& phase = {});
  // Inputs and outputs (output/...) of batch `step` of `source`, without learning.
  struct Seen {
    TensorMap inputs, outputs;
  };
  Seen look(const Json& source, int64_t step, const std::optional<std::string>& phase = {});

 private:
  protocol::RunReply run(const Json& source, const protocol::Run& request,
                         const std::function<void(const StepRow&)>& each);
  std::filesystem::path folder_;
  Json told_;  // of the source, by a run
  std::unique_ptr<WorkerProcess> worker_;
};

// Settings with the workers of this build; empty where no worker of PyTorch is among them.
std::optional<RunnerSettings> lesson_settings(const std::filesystem::path& cache);

}  // namespace tbd
