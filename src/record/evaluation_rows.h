// What a training knew at which step, what it was to reach, and the best of it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

struct Record;
struct RunInfo;

// After `step` training steps; step 0 is before the first.
struct EvaluationRow {
  int64_t step = 0, samples = 0;         // trained on; of the held-out set
  double training_seconds = 0;           // until the end of the step, evaluations aside
  double seconds = 0, wall_seconds = 0;  // of this evaluation: in the network; altogether
  // By the judge of the answers, its own questions to the network included; nullopt where no judge was timed.
  std::optional<double> judging_seconds;
  std::optional<double> training_loss;  // mean of the steps since the row before
  // Energy of the processor packages until the end of the step, evaluations aside; nullopt where no meter can be read.
  std::optional<double> training_joules;
  std::map<std::string, double> metrics;
  bool operator==(const EvaluationRow&) const = default;
};

// Smaller is better of losses, errors (wer and cer among them), distances (swd) and perplexities, larger of all other
// metrics. The words of a name are separated by underscores.
bool less_is_better(std::string_view metric);

// The value is reached from above where smaller is better, else from below.
struct Goal {
  std::string metric;
  double value = 0;
  bool reached_by(double measured) const;
};
// "box_ap=0.02". Throws Error(usage) on another form.
Goal goal_from(const std::string& text);
std::string to_text(const Goal& goal);
// What the record's training was to reach; nullopt where it had no goal.
std::optional<Goal> goal_of(const RunInfo& run);

// The data set of a training, as its worker counted it.
struct TrainingData {
  int64_t samples = 0, held_out = 0, steps_per_epoch = 1;
};
// nullopt where the record holds no training, or one that ended before it looked at its data.
std::optional<TrainingData> training_data_of(const RunInfo& run);
void note_training_data(RunInfo& run, const TrainingData& data);

// The best value of a metric and when it was first reached.
struct BestRow {
  std::string metric;
  double value = 0;
  int64_t step = 0;
};
// The first of equals. The metric is the goal's, else the loss. nullopt where no row has it.
std::optional<BestRow> best_row(std::span<const EvaluationRow> rows, const std::optional<Goal>& goal);

// One training and what it came to.
struct Attempt {
  std::string network, setting;  // "minigo tiny, batch 32"; "pytorch, fp32"
  uint64_t seed = 0;
  int64_t samples_per_step = 0;
  std::optional<TrainingData> data = {};
  std::optional<Goal> goal;
  std::vector<EvaluationRow> rows;

  // The first evaluation that reached the goal; nullptr where none did, and without a goal.
  const EvaluationRow* reached() const;
};
// nullopt for a record without a training.
std::optional<Attempt> attempt_of(const Record& record);

}  // namespace tbd
