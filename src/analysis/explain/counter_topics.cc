// Figures of the counters of the processor and the kernel (docs/profile.md).
#include "analysis/explain/topic.h"

namespace tbd {
namespace {

constexpr std::string_view kScope =
    "All threads of the worker, those of the framework from its load on; the kernel's work for them, where the system "
    "lets it be counted.";
constexpr std::string_view kProcessor =
    "perf_event_open, read after each untraced step beside the traced ones. Unverified on hardware.";
constexpr std::string_view kKernel = "perf_event_open, read after each untraced step beside the traced ones.";
constexpr std::string_view kNoPmu = "Absent without a PMU, as in most virtual machines, or without the right to it.";

constexpr Topic kCounterTopics[] = {
    {"counters.instructions_per_cycle", "", "Instructions that retired in a cycle of the core's clock.",
     "instructions / cycles", kScope, kProcessor, "", kNoPmu},
    {"counters.clock_hz", "Hz", "Clock of the cores while the worker's threads ran.", "cycles / task_clock_ns", kScope,
     kProcessor, "", "Absent where the kernel's own cycles may not be counted: its time is in the divisor."},
    {"counters.cache_miss_bytes", "B", "Bytes that the misses of a step brought from beyond the cache.",
     "cache_misses times the bytes of a cache line", "No prefetches where the processor's event leaves these out.",
     kProcessor, "", "Not all traffic of memory: writes back and prefetches may be missing."},
    {"counters.cycles", "", "Cycles of a step, over all threads.", "", kScope, kProcessor, "", kNoPmu},
    {"counters.instructions", "", "Instructions of a step that retired.", "", kScope, kProcessor, "", kNoPmu},
    {"counters.cache_references", "", "Look-ups in the cache that the kernel's generic event names.", "", kScope,
     kProcessor, "", "The last level on Intel's processors, the core's own last one on AMD's: not to be compared."},
    {"counters.cache_misses", "", "Look-ups of counters.cache_references that did not find their line.", "", kScope,
     kProcessor, "", "As counters.cache_references."},
    {"counters.branch_misses", "", "Branches of a step that were predicted wrongly.", "", kScope, kProcessor, "",
     kNoPmu},
    {"counters.task_clock_ns", "ns", "Time of a step that threads were on processors, summed.", "", kScope, kKernel, "",
     "That of CLOCK_PROCESS_CPUTIME_ID."},
    {"counters.page_faults", "", "Page faults of a step.", "", kScope, kKernel, "",
     "minor_faults and major_faults of steps.csv together."},
    {"counters.context_switches", "", "Times that a thread gave its processor to another in a step.", "", kScope,
     kKernel, "", "Absent where the kernel's own work may not be counted."},
    {"counters.migrations", "", "Times that a thread went on on another processor in a step.", "", kScope, kKernel, "",
     "Absent where the kernel's own work may not be counted."},
};

}  // namespace

std::span<const Topic> counter_topics() { return kCounterTopics; }

}  // namespace tbd
