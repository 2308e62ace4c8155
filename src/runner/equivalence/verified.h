// Verdicts kept by what they depend on: the network, the framework's library, the worker and the precision.
#pragma once
#include "runner/equivalence/verdict.h"
#include "runner/settings.h"

namespace tbd {

// What a verdict was about.
struct VerdictKey {
  std::string model_hash;
  Precision precision = Precision::kFp32;
  ImageLayout layout = ImageLayout::kNchw;  // that was run
  Mode mode = {};                           // as asked for; empty: the framework's usual one
  Device device = Device::kCpu;
};

// true: a passing verdict is kept; false: a failing one; nullopt: never checked, or worker, library or rules have
// changed since. Starts nothing.
std::optional<bool> verified(const VerdictKey& key, const WorkerEntry& entry, const RunnerSettings& settings);

// Keeps a verdict; one with a fault is none.
void store_verdict(const VerdictKey& key, const WorkerEntry& entry, const FrameworkVerdict& verdict,
                   const RunnerSettings& settings);

}  // namespace tbd
