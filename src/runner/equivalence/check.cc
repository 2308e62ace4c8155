#include "runner/equivalence/check.h"

#include <algorithm>

#include "graph/memory.h"
#include "models/model.h"
#include "runner/equivalence/verified.h"

namespace tbd {
namespace {

constexpr int64_t kSmallStep = int64_t{1} << 30;  // bytes

int64_t usual_batch(const Program& program) {
  return predict_memory(program, {{"N", 4}}).peak().value < kSmallStep ? 4 : 2;
}

const WorkerEntry& reference_worker(const RunnerSettings& settings) {
  for (const WorkerEntry& entry : settings.workers)
    if (entry.framework == "pytorch" && entry.pinned) return entry;
  return find_worker(settings.workers, "pytorch");
}

}  // namespace

CheckResult check_model(const CheckOptions& options, const RunnerSettings& settings) {
  const LoadedProgram loaded = load_program(options.model, options.config);
  std::vector<const WorkerEntry*> entries;
  for (const std::string& framework : options.frameworks) entries.push_back(&find_worker(settings.workers, framework));
  if (options.frameworks.empty())
    for (const WorkerEntry& entry : settings.workers) entries.push_back(&entry);
  const WorkerEntry& reference = reference_worker(settings);
  CheckResult result{.model = loaded.program.model, .config = loaded.program.config};
  result.model_hash = program_hash(loaded.program);
  result.batch = options.batch > 0 ? options.batch : usual_batch(loaded.program);

  const auto tell = [&](const std::string& doing) {
    if (options.progress) options.progress(doing);
  };
  tell("the reference: pytorch in float64, and its float32 spread");
  const Equivalence equivalence(
      loaded.program,
      {.batch = result.batch, .seed = options.seed, .precision = options.precision, .layout = options.layout},
      worker_stepper(reference, settings));
  for (const WorkerEntry* entry : entries) {
    tell(entry->key);
    const Subject subject{entry->key, entry->version, worker_stepper(*entry, settings)};
    result.verdicts.push_back(equivalence.judge(subject, options.reproduction));
    store_verdict({result.model_hash, options.precision, options.layout}, *entry, result.verdicts.back(), settings);
  }
  return result;
}

}  // namespace tbd
