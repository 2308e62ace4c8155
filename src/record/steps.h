// steps.csv: one row a step, columns as in StepRow. A column that a file does not have reads as unknown.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"

namespace tbd {

std::string steps_header();  // the first line, with its newline
std::string format_steps(std::span<const StepRow> rows);

// The rows of a steps.csv; `dropped` counts what a cut left at the end: one malformed or unfinished line.
// Throws Error(invalid) on a malformed line before the last, on stamps that do not rise, or on a header without
// step, completed_ns and units.
std::vector<StepRow> parse_steps(std::string_view csv, int64_t& dropped);

}  // namespace tbd
