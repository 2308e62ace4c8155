#include "runner/training_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/amounts.h"
#include "base/error.h"
#include "base/text.h"
#include "runner/training.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeeds = "seeds";

int64_t seeds_of(const WorkloadSet& set) {
  const auto found = set.training.find(kSeeds);
  return found == set.training.end() ? 1 : count_from(found->second, kSeeds);
}

// As a record of a measured workload is named, without the axes that are left open.
std::string training_name(Workload workload) {
  const uint64_t seed = std::exchange(workload.seed, 0);
  std::string name = cat(folder_name(workload), "-seed-", seed);
  for (size_t at = name.find("--"); at != std::string::npos; at = name.find("--")) name.erase(at, 1);
  return name;
}

void set_training(TrainOptions& options, const std::string& setting, const std::string& value) {
  if (setting == "steps") options.length = {static_cast<double>(count_from(value, setting)), false};
  if (setting == "epochs") options.length = {positive_number_from(value, setting), true};
  if (setting == "evaluate-every") options.evaluate_every = steps_or_epochs_from(value);
  if (setting == "until") options.until = goal_from(value);
  if (setting == "lr") options.rate = positive_number_from(value, setting);
  if (setting == kSeeds) (void)count_from(value, setting);
}

TrainOptions training_of(const WorkloadSet& set, const Workload& workload) {
  const bool steps = set.training.contains("steps"), epochs = set.training.contains("epochs");
  if (!steps && !epochs)
    fail(ErrorKind::usage, "a set of ", workload.model, " says neither steps nor epochs, as a training needs");
  if (steps && epochs) fail(ErrorKind::usage, "a set of ", workload.model, " says both steps and epochs");
  if (set.training.contains("until") && !set.training.contains("evaluate-every"))
    fail(ErrorKind::usage, "a set of ", workload.model, " says until, which needs evaluate-every");
  TrainOptions options{.workload = workload};
  for (const auto& [setting, value] : set.training) set_training(options, setting, value);
  return options;
}

}  // namespace

void check_training(const std::string& setting, const std::string& value) {
  TrainOptions alone;
  set_training(alone, setting, value);
}

const std::vector<std::string>& training_settings() {
  static const std::vector<std::string> names = {"steps", "epochs", "evaluate-every", "until", "lr", kSeeds};
  return names;
}

std::vector<TrainOptions> planned_trainings(const Plan& plan, const fs::path& out) {
  std::vector<TrainOptions> trainings;
  std::set<fs::path> folders;
  for (const WorkloadSet& set : plan.sets)
    for (const Workload& workload : cells(set)) {
      if (std::ranges::any_of(plan.excludes, [&](const auto& each) { return excluded(workload, each); })) continue;
      for (int64_t i = 0; i < seeds_of(set); ++i) {
        TrainOptions options = training_of(set, workload);
        options.workload.input_mode = InputMode::kPipeline;
        options.workload.seed += static_cast<uint64_t>(i);
        options.out = out / training_name(options.workload);
        if (!folders.insert(options.out).second)
          fail(ErrorKind::usage, "two trainings of the plan would go into ", options.out.string());
        trainings.push_back(std::move(options));
      }
    }
  return trainings;
}

}  // namespace tbd
