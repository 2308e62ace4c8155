#include "measure/cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "measure/cgroup.h"

namespace tbd {
namespace {

constexpr int kMostCpus = 8192;
using CpuSet = std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)>;

CpuSet empty_set() {
  CpuSet set(CPU_ALLOC(kMostCpus), [](cpu_set_t* s) { CPU_FREE(s); });
  CPU_ZERO_S(CPU_ALLOC_SIZE(kMostCpus), set.get());
  return set;
}

}  // namespace

std::vector<int> allowed_cpus(int pid) {
  const CpuSet set = empty_set();
  const size_t size = CPU_ALLOC_SIZE(kMostCpus);
  if (sched_getaffinity(pid, size, set.get()) != 0)
    fail(ErrorKind::io, "the affinity of process ", pid, " cannot be read: ", std::strerror(errno));
  std::vector<int> cpus;
  for (int cpu = 0; cpu < kMostCpus; ++cpu)
    if (CPU_ISSET_S(cpu, size, set.get())) cpus.push_back(cpu);
  return cpus;
}

double usable_cores(size_t allowed, std::optional<double> quota) {
  return std::min(static_cast<double>(allowed), quota.value_or(static_cast<double>(allowed)));
}

double usable_cores(int pid) {
  return usable_cores(allowed_cpus(pid).size(), cgroup_limits(pid == 0 ? getpid() : pid).cpu_quota_cores);
}

void bind_thread(const std::vector<int>& cpus) {
  const CpuSet set = empty_set();
  const size_t size = CPU_ALLOC_SIZE(kMostCpus);
  for (const int cpu : cpus) {
    require(cpu >= 0 && cpu < kMostCpus, "there is no core ", cpu);
    CPU_SET_S(cpu, size, set.get());
  }
  if (sched_setaffinity(0, size, set.get()) != 0)
    fail(ErrorKind::io, "a thread cannot be bound to the chosen cores: ", std::strerror(errno));
}

}  // namespace tbd
