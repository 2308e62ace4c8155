// A worker that learns on a small real set of the set-up (docs/data.md) and is looked at on held-out samples.
#pragma once
#include <filesystem>
#include <ostream>

#include "base/files.h"
#include "base/json.h"
#include "base/tensor.h"
#include "runner/plan.h"
#include "runner/settings.h"
#include "runner/worker_process.h"

namespace tbd {

// Where the set-up puts its sets; one that is whole has a file .ready.
std::filesystem::path small_sets();

// Who learns. PyTorch learns each network, and not from what was shuffled. The other frameworks that come first are
// trained to a quality by plans/curves.plan; those that do not learn what they can in a minute or so.
struct Learner {
  std::string framework;
  std::vector<uint64_t> seeds;
  std::vector<std::string> models = {};  // empty: all
  bool shuffled = false;                 // a run that must not learn is made, too
};
void PrintTo(const Learner& learner, std::ostream* out);
std::vector<Learner> learners(std::vector<uint64_t> seeds_of_pytorch = {1});
// PyTorch with two more seeds, a lane of its own: ./test --long runs it.
std::vector<Learner> further_seeds();

// Settings with the workers of this build.
RunnerSettings lesson_settings(const std::filesystem::path& cache);
// Why the framework cannot learn this network here; empty where it can.
std::string no_lesson(const Learner& learner, const std::string& model, const std::string& config,
                      const RunnerSettings& settings);

// A lesson of one thread, which may run beside others.
Workload lesson_cell(const Learner& learner, const std::string& model, const std::string& config, int64_t batch,
                     uint64_t seed);

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

}  // namespace tbd
