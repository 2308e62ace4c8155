// `tbd check`: one model, several frameworks, a verdict each.
#pragma once
#include "runner/equivalence/equivalence.h"
#include "runner/settings.h"

namespace tbd {

struct CheckOptions {
  std::string model, config;
  std::vector<std::string> frameworks;  // empty: every worker that is built
  std::string precision = "fp32", layout;
  int64_t batch = 0;  // 0: 4 where a step is small, else 2
  uint64_t seed = 0;
  std::filesystem::path reproduction;                      // where folders of differences go; empty: none
  std::function<void(const std::string& doing)> progress;  // may be empty
};

struct CheckResult {
  std::string model, config, model_hash;
  int64_t batch = 0;
  std::vector<FrameworkVerdict> verdicts;  // in the order of the frameworks
};

// Verdicts are kept for `verified`. Throws Error(usage, not_found or invalid) when the question makes no sense,
// WorkerFault when the reference fails; a framework that fails is a verdict with a fault.
CheckResult check_model(const CheckOptions& options, const RunnerSettings& settings);

}  // namespace tbd
