// Counts that the same program repeats exactly, of one step: a change of one is certain without any statistics.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"

namespace tbd {

struct StepCounter {
  std::string name;
  std::vector<int64_t> values;  // of each step or launch that was looked at
  bool operator==(const StepCounter&) const = default;
};

struct CounterMeaning {
  std::string_view name, meaning;
};
std::span<const CounterMeaning> step_counter_meanings();  // in the order in which they are listed

// Those that the record has, in that order: of the program always, of memory and of ops where these passes were run.
// Throws Error(invalid) where a log or a trace is damaged.
std::vector<StepCounter> step_counters(const Record& record);

}  // namespace tbd
