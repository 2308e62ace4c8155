#include "lesson_worker.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/json.h"
#include "built_workers.h"
#include "record/safetensors.h"
#include "runner/data_source.h"
#include "runner/lowerings.h"
#include "runner/prepare.h"

namespace tbd {
namespace fs = std::filesystem;

fs::path small_sets() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache && *cache ? fs::path(cache) : fs::path(home ? home : "/") / ".cache") / "tbd/data";
}

void PrintTo(const Learner& learner, std::ostream* out) { *out << learner.framework; }

std::vector<Learner> further_seeds() { return {{.framework = "pytorch", .seeds = {2, 3}}}; }

std::vector<Learner> learners(std::vector<uint64_t> seeds_of_pytorch) {
  std::vector<Learner> out = {{.framework = "pytorch", .seeds = std::move(seeds_of_pytorch), .shuffled = true}};
  for (const KnownFramework& known : known_frameworks()) {
    if (known.first) continue;
    const bool steps_fast = known.name == "mlx";  // through many small ops
    out.push_back({.framework = std::string(known.name),
                   .seeds = {1},
                   .models = steps_fast ? std::vector<std::string>{"transformer", "wgan_gp"}
                                        : std::vector<std::string>{"minigo"}});
  }
  return out;
}

Workload lesson_cell(const Learner& learner, const std::string& model, const std::string& config, int64_t batch,
                     uint64_t seed) {
  return {.model = model, .config = config, .framework = learner.framework, .batch = batch, .threads = 1, .seed = seed};
}

RunnerSettings lesson_settings(const fs::path& cache) { return built_settings(cache); }

std::string no_lesson(const Learner& learner, const std::string& model, const std::string& config,
                      const RunnerSettings& settings) {
  const auto entry = std::ranges::find(settings.workers, learner.framework, &WorkerEntry::key);
  if (entry == settings.workers.end()) return cat("no worker of ", learner.framework, " is built");
  if (!learner.models.empty() && std::ranges::count(learner.models, model) == 0) return "it takes minutes";
  const LoweringQuestion question{model, config, Precision::kFp32};
  return lowerings(*entry, std::span(&question, 1), settings).front().reason;
}

LessonWorker::LessonWorker(const Workload& cell, const RunnerSettings& settings, const fs::path& folder)
    : folder_(folder) {
  const PreparedCell prepared = prepare(cell, Effort::smoke, settings);
  told_ = data_source(prepared.program, cell.seed);
  const std::vector<int> any_core;  // lessons of one thread may run side by side; nothing is timed
  worker_ = std::make_unique<WorkerProcess>(*prepared.worker, settings, worker_environment(prepared, settings),
                                            any_core, folder / "worker.log");
  worker_->hello();
  worker_->ask<protocol::LoadReply>(load_request(prepared, /*capture=*/true), "loading", 120);
}
LessonWorker::~LessonWorker() { worker_->bye(); }

protocol::RunReply LessonWorker::run(const Json& source, const protocol::Run& request,
                                     const std::function<void(const StepRow&)>& each) {
  protocol::Run run = request;
  run.input.mode = InputMode::kPipeline;
  run.input.source = told_;
  run.input.source->merge_patch(source);
  return worker_->run(run, [&](std::span<const StepRow> rows) {
    std::ranges::for_each(rows, each);
    return false;
  });
}

double LessonWorker::mean_loss(const Json& source, int64_t steps, double lr, const std::optional<std::string>& phase) {
  double sum = 0;
  int64_t count = 0;
  run(source, {.steps = steps, .lr = lr, .phase = phase}, [&](const StepRow& row) {
    sum += row.loss.value_or(NAN);
    ++count;
  });
  return sum / static_cast<double>(count);
}

LessonWorker::Seen LessonWorker::look(const Json& source, int64_t step, const std::optional<std::string>& phase) {
  const fs::path inputs = folder_ / "inputs.safetensors", outputs = folder_ / "outputs.safetensors";
  protocol::Run request{.steps = 1, .first_step = step, .lr = 0, .phase = phase};
  request.input.save = inputs.string();
  run(source, request, [](const StepRow&) {});
  worker_->ask<protocol::ReadReply>(protocol::Read{{"output/"}, outputs.string()}, "reading", 60);
  return {read_safetensors(inputs), read_safetensors(outputs)};
}

}  // namespace tbd
