#include "measure/threading.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

// First one logical CPU of each physical core, then the siblings.
std::vector<int> physical_first(const std::vector<LogicalCpu>& allowed, size_t& physical) {
  std::vector<int> first, siblings;
  std::set<int64_t> seen;
  for (const LogicalCpu& cpu : allowed) (seen.insert(cpu.physical).second ? first : siblings).push_back(cpu.cpu);
  physical = first.size();
  first.insert(first.end(), siblings.begin(), siblings.end());
  return first;
}

// Physical cores, or logical processors where there are fewer of those than wanted.
std::vector<std::vector<LogicalCpu>> split_into_cores(const std::vector<LogicalCpu>& allowed, size_t wanted) {
  std::map<int64_t, std::vector<LogicalCpu>> by_number;
  for (const LogicalCpu& cpu : allowed) by_number[cpu.physical].push_back(cpu);
  std::vector<std::vector<LogicalCpu>> cores;
  for (const auto& [physical, siblings] : by_number) cores.push_back(siblings);
  if (cores.size() >= wanted) return cores;
  cores.clear();
  for (const LogicalCpu& cpu : allowed) cores.push_back({cpu});
  return cores;
}

std::vector<LogicalCpu> siblings_last(std::span<const std::vector<LogicalCpu>> cores) {
  std::vector<LogicalCpu> all;
  for (const std::vector<LogicalCpu>& core : cores) all.push_back(core.front());
  for (const std::vector<LogicalCpu>& core : cores) all.insert(all.end(), core.begin() + 1, core.end());
  return all;
}

void set_counts(ThreadPlan& plan) {
  const std::string count = cat(plan.threads);
  plan.environment["OMP_NUM_THREADS"] = count;
  plan.environment["MKL_NUM_THREADS"] = count;
  plan.environment["OPENBLAS_NUM_THREADS"] = count;
  plan.environment["OMP_DYNAMIC"] = "FALSE";  // the runtime may not lower the count by itself
  plan.environment["MKL_DYNAMIC"] = "FALSE";
}

// OpenMP's own binding ties the main thread to one core, and every thread that it starts later (loaders, inter-op)
// inherits that core: so it is off unless asked for.
void set_binding(ThreadPlan& plan, const Affinity& affinity) {
  plan.unset = {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET"};
  if (affinity == Affinity::kProcess) {
    plan.environment["OMP_PROC_BIND"] = "FALSE";
    plan.unset.push_back("OMP_PLACES");
    return;
  }
  for (int64_t i = 0; i < plan.threads; ++i)
    plan.pinning.push_back(plan.cores[static_cast<size_t>(i) % plan.cores.size()]);
  std::vector<std::string> places;
  for (const int core : plan.pinning) places.push_back(cat("{", core, "}"));
  plan.environment["OMP_PLACES"] = join(places, ",");
  plan.environment["OMP_PROC_BIND"] = "TRUE";
}

}  // namespace

// GOMP_SPINCOUNT is GNU's runtime, KMP_BLOCKTIME (milliseconds) Intel's and LLVM's; OMP_WAIT_POLICY both read.
std::map<std::string, std::string> waiting_variables(const WaitPolicy& wait) {
  if (wait == WaitPolicy::kPassive)
    return {{"OMP_WAIT_POLICY", "PASSIVE"}, {"GOMP_SPINCOUNT", "0"}, {"KMP_BLOCKTIME", "0"}};
  if (wait == WaitPolicy::kActive)
    return {{"OMP_WAIT_POLICY", "ACTIVE"}, {"GOMP_SPINCOUNT", "INFINITY"}, {"KMP_BLOCKTIME", "INFINITE"}};
  return {};
}

ThreadPlan plan_threads(const ThreadRequest& request) {
  if (request.threads && *request.threads < 1)
    fail(ErrorKind::usage, "threads must be 1 or more, got ", *request.threads);
  if (request.allowed.empty()) fail(ErrorKind::usage, "there is no core to run on");
  ThreadPlan plan{.wait = request.wait};
  size_t physical = 0;
  plan.cores = physical_first(request.allowed, physical);
  const auto usable = std::max<int64_t>(1, static_cast<int64_t>(std::floor(request.usable_cores)));
  plan.threads = request.threads.value_or(std::min<int64_t>(usable, static_cast<int64_t>(physical)));
  if (static_cast<double>(plan.threads) > request.usable_cores && plan.threads > 1)
    plan.warnings.push_back(cat(plan.threads, " threads on ", request.usable_cores, " usable cores"));
  else if (plan.threads > static_cast<int64_t>(physical))
    plan.warnings.push_back(cat(plan.threads, " threads on ", physical, " physical cores: some share a core"));
  set_counts(plan);
  plan.environment.merge(waiting_variables(plan.wait));
  set_binding(plan, request.affinity);
  return plan;
}

// A quota below the affinity mask is split too: a share has no more logical processors than its part of it.
std::vector<ThreadRequest> equal_shares(const ThreadRequest& request, int64_t count) {
  const auto usable = static_cast<int64_t>(std::floor(request.usable_cores));
  if (count < 1 || count > usable)
    fail(ErrorKind::usage, "workers must be between 1 and ", std::max<int64_t>(1, usable), ", got ", count,
         ": each needs a core of its own, and ", usable, usable == 1 ? " is" : " are", " usable here");
  const std::vector<std::vector<LogicalCpu>> cores = split_into_cores(request.allowed, static_cast<size_t>(count));
  const size_t each = cores.size() / static_cast<size_t>(count);
  std::vector<ThreadRequest> shares(static_cast<size_t>(count), request);
  for (size_t i = 0; i < shares.size(); ++i) {
    shares[i].allowed = siblings_last(std::span(cores).subspan(i * each, each));
    const size_t most = std::min(shares[i].allowed.size(), static_cast<size_t>(usable / count));
    shares[i].allowed.resize(most);
    shares[i].usable_cores = static_cast<double>(most);
  }
  return shares;
}

std::vector<LogicalCpu> logical_cpus(const std::vector<int>& allowed) {
  std::vector<LogicalCpu> cpus;
  for (const int cpu : allowed) {
    const auto siblings = parse_cpu_list(
        read_system_line(cat("/sys/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list")).value_or(""));
    cpus.push_back({cpu, siblings.empty() ? cpu : siblings.front()});
  }
  return cpus;
}

Json to_json(const ThreadPlan& plan) {
  return {{"threads", plan.threads},
          {"cores", cpu_list([&] {
             std::vector<int> cores = plan.cores;
             std::sort(cores.begin(), cores.end());
             return cores;
           }())},
          {"pinning", plan.pinning.empty() ? Json(nullptr) : Json(plan.pinning)},
          {"wait_policy", plan.wait},
          {"environment", plan.environment},
          {"unset", plan.unset},
          {"warnings", plan.warnings}};
}

}  // namespace tbd
