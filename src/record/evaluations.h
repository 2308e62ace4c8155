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

inline constexpr const char* kEvaluationsFile = "evaluations.jsonl";

// After `step` training steps; step 0 is before the first.
struct EvaluationRow {
  int64_t step = 0, samples = 0;         // trained on; of the held-out set
  double training_seconds = 0;           // until the end of the step, evaluations aside
  double seconds = 0, wall_seconds = 0;  // of this evaluation: in the network; altogether
  std::optional<double> training_loss;   // mean of the steps since the row before
  std::map<std::string, double> metrics;
  bool operator==(const EvaluationRow&) const = default;
};

std::string evaluation_lines(std::span<const EvaluationRow> rows);
// Empty where the folder has no such file; a last line that was cut is left out. Throws Error(invalid) with the line's
// number for another malformed line.
std::vector<EvaluationRow> read_evaluations(const std::filesystem::path& launch_folder);

}  // namespace tbd
