// For tests that start workers: the runner's settings with every worker of this build and nothing else of the machine.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>

#include "base/text.h"
#include "measure/cores.h"
#include "record/frameworks.h"
#include "runner/settings.h"

namespace tbd {

// In the order of deps/frameworks.txt.
inline RunnerSettings built_settings(const std::filesystem::path& cache = {}) {
  RunnerSettings settings;
  settings.workers = read_workers(std::filesystem::path(TBD_BINARY_DIR) / "workers.json");
  const auto place = [](const WorkerEntry& entry) {  // a framework that is not ours comes last
    const KnownFramework* known = find_framework(entry.framework);
    return known ? known - known_frameworks().data() : std::ssize(known_frameworks());
  };
  std::ranges::stable_sort(settings.workers, {}, place);
  settings.environment = {{"PATH", "/usr/bin:/bin"}};
  settings.cache = cache;
  return settings;
}

// Leaves the frameworks that come first, for what the runner does alike with any that runs every network.
inline RunnerSettings with_first_frameworks(RunnerSettings settings) {
  std::erase_if(settings.workers, [](const WorkerEntry& entry) {
    const KnownFramework* known = find_framework(entry.framework);
    return !known || !known->first;
  });
  return settings;
}

// Whether the worker can measure all of these.
inline bool offers(const WorkerEntry& entry, const std::vector<Pass>& passes, const RunnerSettings& settings) {
  const std::vector<Pass> offered = capabilities(entry, settings).passes;
  return std::ranges::all_of(passes, [&](const Pass& pass) { return std::ranges::count(offered, pass) > 0; });
}

// Why no two workers of the framework can train here; empty where they can.
inline std::string no_two_workers(const RunnerSettings& settings, const std::string& framework = "pytorch") {
  if (std::ranges::none_of(settings.workers, [&](const WorkerEntry& entry) { return entry.key == framework; }))
    return cat("no worker of ", framework, " is built");
  return usable_cores() < 2 ? "two workers need two cores" : "";
}

}  // namespace tbd
