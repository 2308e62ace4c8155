// steps.csv: one row a step, columns as in StepRow. A column that a file does not have reads as unknown.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"

namespace tbd {

// The columns that may be unknown, but the loss.
struct StepCount {
  using Member = std::optional<int64_t> StepRow::*;
  std::string_view name;
  Member member;
};
inline constexpr std::array<StepCount, 17> kAllStepCounts = {{
    {"samples", &StepRow::samples},
    {"valid", &StepRow::valid},
    {"padded", &StepRow::padded},
    {"input_wait_ns", &StepRow::input_wait_ns},
    {"user_cpu_ns", &StepRow::user_cpu_ns},
    {"system_cpu_ns", &StepRow::system_cpu_ns},
    {"minor_faults", &StepRow::minor_faults},
    {"major_faults", &StepRow::major_faults},
    {"runqueue_wait_ns", &StepRow::runqueue_wait_ns},
    {"steal_ticks", &StepRow::steal_ticks},
    {"rss_bytes", &StepRow::rss_bytes},
    {"pause_ns", &StepRow::pause_ns},
    {"fma_flop_rate", &StepRow::fma_flop_rate},
    {"read_byte_rate", &StepRow::read_byte_rate},
    {"foreign_ns", &StepRow::foreign_ns},
    {"device_ns", &StepRow::device_ns},
    {"rows", &StepRow::rows},
}};
inline constexpr std::span kStepCounts = kAllStepCounts;

std::string steps_header();  // the first line, with its newline
std::string format_steps(std::span<const StepRow> rows);

// The rows of a steps.csv; `dropped` counts what a cut left at the end: one malformed or unfinished line.
// Throws Error(invalid) on a malformed line before the last, on stamps that do not rise, or on a header without
// step, completed_ns and units.
std::vector<StepRow> parse_steps(std::string_view csv, int64_t& dropped);

}  // namespace tbd
