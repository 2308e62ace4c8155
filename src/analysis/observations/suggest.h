// The command line that would bring evidence that is missing.
#pragma once
#include <map>

#include "analysis/observations/scope.h"

namespace tbd::rules {

struct Suggestion {
  Workload workload;  // whose model, framework and batch the lists stand for
  std::vector<std::string> models;
  std::vector<std::string> frameworks = {"pytorch"};
  std::vector<int64_t> batches;
  std::vector<Pass> passes = {Pass::kClean};
  std::string effort;
  std::map<std::string, std::string, std::less<>> lists = {};  // of further axes: {"workers", "1,2"}
};
// "tbd run seq2seq --batch 4,8,16,32,64 --memory 4GiB --passes clean,trace": options at their defaults are left out.
// Pipeline input without a folder asks for DIR. Empty where no model is named.
std::string command(const Suggestion& suggestion);

// The same workload again, over these batches.
Suggestion again(const Sweep& sweep, std::vector<int64_t> batches, std::vector<Pass> passes = {Pass::kClean});
// Some of the known models of a kind, those that the scope lacks first.
enum class ModelKind { any, recurrent, other, convolutional };
Suggestion fresh(const Scope& scope, ModelKind kind, size_t models, std::vector<Pass> passes = {Pass::kClean});

// The sweep's batches, continued by doubling until there are `least`.
std::vector<int64_t> continued(const Sweep& sweep, size_t least);
// From the sweep's largest on, doubling, `more` further ones.
std::vector<int64_t> beyond(const Sweep& sweep, size_t more);

// For rules on each series over at least four batches: continues the scope's longest short series, else begins new
// ones. `value` known at a point says that it counts; null: that it ran.
void suggest_sweeps(Observation& observation, const Scope& scope, Measured SweepPoint::*value,
                    std::vector<Pass> passes);

}  // namespace tbd::rules
