// evaluations.jsonl of a launch of pass `train`: what the network knew at which step. One object a line;
// docs/training.md.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbd {

struct RunInfo;

inline constexpr const char* kEvaluationsFile = "evaluations.jsonl";

// After `step` training steps; step 0 is before the first.
struct EvaluationRow {
  int64_t step = 0, samples = 0;         // trained on; of the held-out set
  double training_seconds = 0;           // until the end of the step, evaluations aside
  double seconds = 0, wall_seconds = 0;  // of this evaluation: in the network; altogether
  std::optional<double> training_loss;   // mean of the steps since the row before
  // That the machine's processors took until the end of the step, evaluations aside, where its meters can be read.
  std::optional<double> training_joules;
  std::map<std::string, double> metrics;
  bool operator==(const EvaluationRow&) const = default;
};

// Losses, errors (wer and cer are some), distances and perplexities are better where they are less, all other metrics
// where they are more. A name's words stand between underscores.
bool less_is_better(std::string_view metric);

// A metric is good from a value on: at least it or, where less is better, at most.
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

// The best value that a metric had.
struct BestRow {
  std::string metric;
  double value = 0;
  int64_t step = 0;
};
// The first of equals. The metric is the goal's, else the loss. nullopt where no row has it.
std::optional<BestRow> best_row(std::span<const EvaluationRow> rows, const std::optional<Goal>& goal);

std::string evaluation_lines(std::span<const EvaluationRow> rows);
// Empty where the folder has no such file; a last line that was cut is left out. Throws Error(invalid) with the line's
// number for another malformed line.
std::vector<EvaluationRow> read_evaluations(const std::filesystem::path& launch_folder);

}  // namespace tbd
