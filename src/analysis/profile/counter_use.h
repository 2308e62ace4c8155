// What the processor and the kernel counted in a step, from the untraced steps that lie beside the traced ones.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>

#include "analysis/table.h"
#include "base/json_fwd.h"
#include "record/counter_log.h"
#include "record/record.h"

namespace tbd {

struct CounterUse {
  int64_t steps = 0;                                      // looked at
  bool with_kernel = true;                                // the kernel's own work was counted, too
  std::array<std::optional<double>, kCounters> per_step;  // means, by Counter; of the steps in which it counted
  std::array<std::string, kCounters> absent;              // why there is none; empty where there is one
  std::optional<int64_t> cache_line_bytes;

  std::optional<double> of(Counter counter) const { return per_step[static_cast<size_t>(counter)]; }
  std::optional<double> instructions_per_cycle() const;
  // Cycles over the time of threads on processors, Hz. Absent where the kernel's own cycles were not counted.
  std::optional<double> clock_rate() const;
  std::optional<double> miss_bytes() const;  // misses times the line of a cache
};
// Of these launches together. nullopt where none has a counters.csv with such steps. Throws Error(invalid) as
// read_counters.
std::optional<CounterUse> counter_use(const Record& record, std::span<const Launch* const> launches);

Table counter_table(const CounterUse& use);
Json to_json(const CounterUse& use);  // numbers a step, null where unknown, and why

}  // namespace tbd
