// Where memory went: the recorded blocks replayed with their final roles (docs/profile.md).
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "record/memory_log.h"

namespace tbd {

using MemoryBytes = std::array<int64_t, kMemoryClasses>;  // asked for, by class
int64_t sum(const MemoryBytes& bytes);

// Blocks that are live at one instant.
struct MemorySnapshot {
  uint32_t event = 0;  // just after it
  int64_t time_ns = 0, step = 0;
  MemoryPhase phase = MemoryPhase::setup;
  MemoryBytes requested{};  // stack, and add up to the total
  int64_t held = 0;         // as the allocator rounds
};

struct MemoryOfNode {
  int32_t node;  // -1: outside nodes
  MemoryBytes requested{};
};

struct MemoryStudy {
  MemorySnapshot peak;                      // the first instant at which the total is greatest
  MemoryBytes class_peaks{};                // each class's own greatest; these do not stack
  int64_t held_peak = 0;                    // the greatest sum as the allocator rounds
  std::vector<MemorySnapshot> after_steps;  // at the end of each step
  std::vector<MemoryOfNode> by_node;        // at the peak, largest total first, ties by node
  std::vector<uint32_t> largest;            // blocks live at the peak, largest first, at most 20

  // Bytes by which live memory grew from the end of step `from` to the end of the last; nullopt without both.
  std::optional<int64_t> growth_since(int64_t from) const;
};
// Throws Error(invalid) on a log without events.
MemoryStudy study_memory(const MemoryLog& log);

// What was live over one step, for an area chart: at most `points` parts of equal numbers of events, each with the
// instant of its greatest total, so that no maximum is lost. Empty where the log has no such step.
std::vector<MemorySnapshot> memory_over_step(const MemoryLog& log, int64_t step, size_t points);

}  // namespace tbd
