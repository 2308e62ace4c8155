// For tests that start workers: the runner's settings with every worker of this build and nothing else of the machine.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>

#include "base/text.h"
#include "measure/cores.h"
#include "runner/settings.h"

namespace tbd {

inline RunnerSettings built_settings(const std::filesystem::path& cache = {}) {
  RunnerSettings settings;
  settings.workers = read_workers(std::filesystem::path(TBD_BINARY_DIR) / "workers.json");
  settings.environment = {{"PATH", "/usr/bin:/bin"}};
  settings.cache = cache;
  return settings;
}

// Why no two workers of the framework can train here; empty where they can.
inline std::string no_two_workers(const RunnerSettings& settings, const std::string& framework = "pytorch") {
  if (std::ranges::none_of(settings.workers, [&](const WorkerEntry& entry) { return entry.key == framework; }))
    return cat("no worker of ", framework, " is built");
  return usable_cores() < 2 ? "two workers need two cores" : "";
}

}  // namespace tbd
