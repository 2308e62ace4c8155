// The kernel samples what a processor does by its ticks, but keeps exact time of idleness. So this is what is left of
// the clock's time.
#include "measure/busy_time.h"

#include <unistd.h>

#include "measure/clock.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {

std::optional<int64_t> busy_ns(const std::vector<int>& cpus) {
  const auto text = read_system_file("/proc/stat");
  if (!text) return std::nullopt;
  const std::map<int, CpuTicks> machine = parse_machine_stat(*text);
  const int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  int64_t idle = 0, other = 0;
  for (const int cpu : cpus) {
    const auto found = machine.find(cpu);
    if (found == machine.end()) return std::nullopt;
    idle += found->second.idle;
    other += found->second.iowait + found->second.steal;
  }
  if (idle == 0) return std::nullopt;
  return std::ssize(cpus) * now_ns() - (idle + other) * ns_per_tick;
}

}  // namespace tbd
