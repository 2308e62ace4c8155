#include <unistd.h>

#include <filesystem>

#include "base/json.h"
#include "base/text.h"
#include "measure/cgroup.h"
#include "measure/cores.h"
#include "measure/environment.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace tbd {
namespace {

// "always [madvise] never" -> "madvise".
Json chosen(const std::string& path) {
  const std::string text = read_system_line(path).value_or("");
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos) return nullptr;
  return text.substr(open + 1, close - open - 1);
}

// The name that the hypervisor gives itself (CPUID leaf 0x40000000); null on bare metal.
Json hypervisor() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31 & 1)) return nullptr;
  __cpuid(0x40000000, a, b, c, d);
  std::string name;
  for (const unsigned word : {b, c, d})
    for (int byte = 0; byte < 4; ++byte)
      if (const char letter = static_cast<char>(word >> 8 * byte & 0xff); letter >= ' ' && letter <= '~')
        name += letter;
  return name.empty() ? Json("unnamed") : Json(name);
#else
  return or_null(read_system_line("/sys/hypervisor/type"));
#endif
}

Json container() {
  std::error_code error;
  if (std::filesystem::exists("/run/.containerenv", error)) return "podman";
  if (std::filesystem::exists("/.dockerenv", error)) return "docker";
  const std::string groups = read_system_file("/proc/1/cgroup").value_or("");
  for (const char* runtime : {"kubepods", "docker", "lxc", "containerd"})
    if (groups.find(runtime) != std::string::npos) return runtime;
  return nullptr;
}

}  // namespace

Json capture_limits() {
  const CgroupLimits groups = cgroup_limits(getpid());
  const std::vector<int> allowed = allowed_cpus();
  const auto memory = parse_colon_lines(read_system_file("/proc/meminfo").value_or(""));
  return {{"affinity", cpu_list(allowed)},
          {"usable_cores", usable_cores(allowed.size(), groups.cpu_quota_cores)},
          {"cgroup_version", groups.version == 0 ? Json(nullptr) : Json(groups.version)},
          {"cpu_quota_cores", or_null(groups.cpu_quota_cores)},
          {"memory_limit_bytes", or_null(groups.memory_limit_bytes)},
          {"memory_bytes", or_null(bytes_of_line(memory, "MemTotal"))},
          {"swap_bytes", or_null(bytes_of_line(memory, "SwapTotal"))},
          {"transparent_huge_pages", chosen("/sys/kernel/mm/transparent_hugepage/enabled")},
          {"aslr", or_null(read_system_int("/proc/sys/kernel/randomize_va_space"))},
          {"hypervisor", hypervisor()},
          {"container", container()}};
}

}  // namespace tbd
