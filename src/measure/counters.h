// Counters of the processor and the kernel over all threads of this process. Counting takes no time of a thread's own;
// reading takes a system call a counter.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "measure/perf_event.h"
#include "record/counter_log.h"

namespace tbd {

class Counters {
 public:
  // Counts from now on what the threads that there are do, and what they will start. Where threads come and go
  // meanwhile it begins anew, a few times.
  Counters();

  // Since the last call or since this was made. Counters of the processor that ran a part of the time only are unknown.
  Counts read();
  // Empty where it counts.
  const std::string& why_absent(Counter counter) const { return absent_[static_cast<size_t>(counter)]; }
  // False: the system lets nothing but code outside of the kernel be counted.
  bool with_kernel() const { return with_kernel_; }

 private:
  struct Reading {
    int64_t value = 0, enabled_ns = 0, running_ns = 0;
  };
  struct Thread {
    std::array<PerfEvent, kCounters> events;
  };
  bool open_all();
  bool open(Thread& thread, pid_t id);
  PerfEvent opened(Counter counter, pid_t thread, const PerfEvent* leader) const;
  Reading sum(Counter counter) const;

  bool with_kernel_ = true;
  std::array<std::string, kCounters> absent_;
  std::vector<Thread> threads_;
  std::array<Reading, kCounters> last_{};
};

// {"with_kernel": bool, "cache_line_bytes": int or null, "absent": {"cycles": why, ...}}
Json to_json(const Counters& counters);

}  // namespace tbd
