// What a process tree and the machine under it have used up to an instant, and what they used between two.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "measure/proc_text.h"

namespace tbd {

struct ThreadTimes {
  int process = 0, thread = 0;
  std::string name;                 // of the thread, as the program set it
  int64_t cpu_ns = 0, wait_ns = 0;  // on a core; runnable but waiting for one
  int64_t voluntary_switches = 0, involuntary_switches = 0;
};

// Counters since the start of the process (tree) or machine. Absent: the system does not say.
struct HostSample {
  int64_t time_ns = 0;  // now_ns() when the reading began
  // The process tree: live processes and the children they waited for. CPU time is exact to the scheduler's clock for
  // live processes, user and system apart to 10 ms.
  int64_t processes = 0;
  int64_t cpu_ns = 0, user_ns = 0, system_ns = 0;
  int64_t minor_faults = 0, major_faults = 0;
  int64_t rss_bytes = 0;
  std::optional<int64_t> peak_rss_bytes;  // VmHWM of the root process alone: peaks of a tree do not add up
  std::vector<ThreadTimes> threads;       // live threads; empty where schedstat is absent
  // The processors that the root process may use, by number.
  std::vector<std::pair<int, CpuTicks>> cpus;
  std::optional<int64_t> throttled_ns;                                // by a cgroup's quota
  std::optional<int64_t> cpu_stall_us, memory_stall_us, io_stall_us;  // PSI "some", of the machine
  std::optional<int64_t> energy_uj;                                   // powercap packages, unwrapped
};

struct ThreadUse {
  int process = 0, thread = 0;
  std::string name;
  int64_t cpu_ns = 0, wait_ns = 0, voluntary_switches = 0, involuntary_switches = 0;
};

// Between two samples. Absent where either sample lacks it, or where a counter went back (a process left the tree
// without being waited for).
struct HostDelta {
  int64_t wall_ns = 0;
  std::optional<int64_t> cpu_ns, user_ns, system_ns, minor_faults, major_faults;
  int64_t rss_bytes = 0;  // at the end
  std::optional<int64_t> peak_rss_bytes;
  std::vector<ThreadUse> threads;  // live at the end; one that began in between counts from its start
  CpuTicks machine;                // over the processors both samples hold
  int64_t machine_cpus = 0;
  std::optional<int64_t> throttled_ns, cpu_stall_us, memory_stall_us, io_stall_us, energy_uj;
};
HostDelta difference(const HostSample& begin, const HostSample& end);

// The widest difference whose samples lie inside [begin_ns, end_ns]; nullopt unless it covers at least half of it.
std::optional<HostDelta> within(std::span<const HostSample> samples, int64_t begin_ns, int64_t end_ns);

// All fields, times in seconds, null where absent.
Json to_json(const HostDelta& delta);

}  // namespace tbd
