#include "runner/device_memory.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "measure/cgroup.h"
#include "measure/gpu/visible_device.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

std::optional<GpuMemory> gpu_memory(const Device& device, const RunnerSettings& settings) {
  const Nvml nvml(settings.gpu_library);
  const auto gpu = nvml_device(nvml, device, in_driver_order(settings.environment));
  return gpu ? gpu->memory().value() : std::nullopt;
}

}  // namespace

std::optional<int64_t> memory_limit() {
  const int64_t machine = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
  const std::optional<int64_t> group = cgroup_limits(::getpid()).memory_limit_bytes;
  if (machine <= 0) return group;
  return std::min(machine, group.value_or(machine));
}

std::optional<int64_t> free_memory() {
  std::optional<int64_t> free = memory_limit();
  if (const auto text = read_system_file("/proc/meminfo"))
    if (const auto available = bytes_of_line(parse_colon_lines(*text), "MemAvailable"))
      free = std::min(*available, free.value_or(*available));
  return free;
}

std::optional<int64_t> memory_limit(const Device& device, const RunnerSettings& settings) {
  if (device == Device::kCpu) return memory_limit();
  const auto memory = gpu_memory(device, settings);
  return memory ? std::optional(memory->total_bytes) : std::nullopt;
}

std::optional<int64_t> free_memory(const Device& device, const RunnerSettings& settings) {
  if (device == Device::kCpu) return free_memory();
  const auto memory = gpu_memory(device, settings);
  return memory ? std::optional(memory->total_bytes - memory->used_bytes) : std::nullopt;
}

std::string taken_memory(const Device& device, const RunnerSettings& settings) {
  if (device == Device::kCpu) return "";
  const Nvml nvml(settings.gpu_library);
  const auto gpu = nvml_device(nvml, device, in_driver_order(settings.environment));
  if (!gpu) return "";
  const auto memory = gpu->memory();
  if (!memory || memory->used_bytes * 20 < memory->total_bytes) return "";
  std::vector<std::string> users;
  if (const auto processes = gpu->compute_processes())
    for (const GpuProcess& user : *processes)
      users.push_back(user.used_bytes ? cat("process ", user.pid, ": ", format_bytes(*user.used_bytes))
                                      : cat("process ", user.pid));
  return cat(format_bytes(memory->used_bytes), " of ", format_bytes(memory->total_bytes), " of the device are taken",
             users.empty() ? "" : cat(" (", join(users, ", "), ")"));
}

}  // namespace tbd
