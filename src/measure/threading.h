// Threads on purpose: how many, on which cores, and how they wait. Pure; the result is recorded as it was applied.
// Idle OpenMP threads that spin while another process wants their core distort steps up to tenfold and unevenly, so
// they sleep unless the machine is known to be the run's own.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/workload_words.h"

namespace tbd {

// A core as the scheduler sees it; equal `physical` marks SMT siblings.
struct LogicalCpu {
  int cpu = 0;
  int64_t physical = 0;
};

struct ThreadRequest {
  std::optional<int64_t> threads;   // nullopt: one for each physical core that the limits allow
  std::vector<LogicalCpu> allowed;  // the affinity mask
  double usable_cores = 1;          // min(affinity mask, cgroup quota)
  WaitPolicy wait = WaitPolicy::kPassive;
  Affinity affinity = Affinity::kProcess;
};

struct ThreadPlan {
  int64_t threads = 1;       // intra-op compute threads
  std::vector<int> cores;    // the process is bound to these, before it starts: physical cores first, then siblings
  std::vector<int> pinning;  // compute thread i runs on pinning[i]; empty unless each is bound
  WaitPolicy wait = WaitPolicy::kPassive;
  std::map<std::string, std::string> environment;  // to set for the worker, on top of what it inherits
  std::vector<std::string> unset;                  // variables to remove: they would override the plan
  std::vector<std::string> warnings;               // "8 threads on 2 usable cores"
};
// Throws Error(usage) for threads < 1 or an empty mask.
ThreadPlan plan_threads(const ThreadRequest& request);

// By which idle threads of OpenMP wait so; none for the framework's habit.
std::map<std::string, std::string> waiting_variables(const WaitPolicy& wait);

// The same for each of `count` processes that run at once: equal shares of the cores, of whole physical cores where
// there are enough of them; what is left over is no one's. Throws Error(usage) where there are fewer cores than shares.
std::vector<ThreadRequest> equal_shares(const ThreadRequest& request, int64_t count);

// The affinity mask of this process with its SMT pairs.
std::vector<LogicalCpu> logical_cpus(const std::vector<int>& allowed);

Json to_json(const ThreadPlan& plan);

}  // namespace tbd
