// Trainings that a plan names (docs/plans.md): each workload of a set with the set's settings of a training, once for
// each seed.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "runner/plan.h"

namespace tbd {

struct TrainOptions;

// Settings of `train` that a line of a plan may set, under the names of its options.
const std::vector<std::string>& training_settings();
// Throws Error(usage) on a value that no training can have.
void check_training(const std::string& setting, const std::string& value);

// In the plan's order, the seeds of a workload one after another; each goes into a folder of `out` that its network,
// axes and seed name. Throws Error(usage) for a plan with a set that says no length or two, or a goal without
// evaluate-every, and with workloads that would go into one folder.
std::vector<TrainOptions> planned_trainings(const Plan& plan, const std::filesystem::path& out);

}  // namespace tbd
