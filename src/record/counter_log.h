// What the processor and the kernel counted in each step of a launch of pass trace, over all threads of its worker. In
// a record: launches/trace-<n>/counters.csv.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tbd {

enum class Counter : uint8_t {
  cycles,            // of the core's clock, while a thread ran
  instructions,      // retired
  cache_references,  // of the cache that the kernel's generic event names: the last level, or the core's last one
  cache_misses,      // of the same
  branch_misses,     // mispredicted
  task_clock_ns,     // threads on a processor
  page_faults,
  context_switches,
  migrations,  // a thread went on on another processor
};
inline constexpr size_t kCounters = static_cast<size_t>(Counter::migrations) + 1;
std::string_view name(Counter counter);
constexpr bool of_processor(Counter counter) { return counter <= Counter::branch_misses; }  // else the kernel's

// By Counter. Unknown: absent, or it did not count all the time.
using Counts = std::array<std::optional<int64_t>, kCounters>;
inline std::optional<int64_t> of(const Counts& counts, Counter counter) { return counts[static_cast<size_t>(counter)]; }

struct CounterRow {
  int64_t step = 0;
  Counts counts{};
};

// Makes the file with its header, or goes on with it. Throws Error(io).
void append_counters(const std::filesystem::path& file, std::span<const CounterRow> rows);
// All rows; a last line that was cut is left out, columns of other names are passed over. Throws Error(io), and
// Error(invalid) with the file's name on any other malformed line and on steps that run backwards.
std::vector<CounterRow> read_counters(const std::filesystem::path& file);

}  // namespace tbd
