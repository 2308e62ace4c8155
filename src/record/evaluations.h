// evaluations.jsonl of a launch of pass `train`: what the network knew at which step. One object a line;
// docs/training.md.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "record/evaluation_rows.h"

namespace tbd {

inline constexpr const char* kEvaluationsFile = "evaluations.jsonl";

std::string evaluation_lines(std::span<const EvaluationRow> rows);
// Empty where the folder has no such file; a last line that was cut is left out. Throws Error(invalid) with the line's
// number for another malformed line.
std::vector<EvaluationRow> read_evaluations(const std::filesystem::path& launch_folder);
// Of a training over its launches: each has those before it, too, but one that was cut before its first has none.
std::vector<EvaluationRow> evaluations_of(const Record& record);

}  // namespace tbd
