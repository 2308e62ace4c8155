// For tests that start workers: the runner's settings with every worker of this build and nothing else of the machine.
#pragma once
#include <filesystem>

#include "runner/settings.h"

namespace tbd {

inline RunnerSettings built_settings(const std::filesystem::path& cache = {}) {
  RunnerSettings settings;
  settings.workers = read_workers(std::filesystem::path(TBD_BINARY_DIR) / "workers.json");
  settings.environment = {{"PATH", "/usr/bin:/bin"}};
  settings.cache = cache;
  return settings;
}

}  // namespace tbd
