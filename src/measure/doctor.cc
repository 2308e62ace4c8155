#include "measure/doctor.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "measure/cgroup.h"
#include "measure/cores.h"
#include "measure/energy.h"
#include "measure/gpu/gpu_rows.h"
#include "measure/peaks/kernel.h"
#include "measure/perf_event.h"
#include "measure/proc_text.h"
#include "measure/speed_probe.h"
#include "measure/switch_ring.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

constexpr double kSharedCore = 1.6;  // times one thread, below which two share a core

DoctorRow yes(std::string item, std::string detail) { return {std::move(item), true, std::move(detail)}; }
DoctorRow no(std::string item, std::string reason, std::string remedy = "") {
  return {std::move(item), false, "", std::move(reason), std::move(remedy)};
}

DoctorRow cores_row() {
  const CgroupLimits limits = cgroup_limits(getpid());
  const size_t allowed = allowed_cpus().size();
  return yes("cores", cat(usable_cores(allowed, limits.cpu_quota_cores), " usable: affinity ", allowed,
                          limits.cpu_quota_cores ? cat(", quota ", *limits.cpu_quota_cores) : ", no quota"));
}

DoctorRow schedstat_row() {
  const auto text = read_system_file("/proc/thread-self/schedstat");
  if (text && parse_schedstat(*text)) return yes("per-thread CPU time, run-queue wait", "schedstat of each thread");
  return no("per-thread CPU time, run-queue wait", "the kernel keeps no schedstat",
            "boot a kernel with CONFIG_SCHED_INFO (distribution kernels have it)");
}

DoctorRow steal_row() {
  if (parse_machine_stat(read_system_file("/proc/stat").value_or("")).empty())
    return no("steal", "/proc/stat shows no processors");
  const auto info = parse_colon_lines(read_system_file("/proc/cpuinfo").value_or(""));
  const auto flags = info.find("flags");
  const bool guest = flags != info.end() && flags->second.find("hypervisor") != std::string::npos;
  return yes("steal", guest ? "/proc/stat; stays 0 if the hypervisor does not report it" : "/proc/stat; bare metal: 0");
}

DoctorRow cgroup_row() {
  const auto files = throttle_files(getpid());
  if (files.empty()) return no("throttling by a cgroup quota", "no cgroup with a cpu controller is mounted");
  return yes("throttling by a cgroup quota", cat("cgroup v", cgroup_limits(getpid()).version, " cpu.stat"));
}

DoctorRow pressure_row() {
  const auto text = read_system_file("/proc/pressure/cpu");
  if (text && parse_pressure_total(*text)) return yes("pressure stall information", "/proc/pressure");
  return no("pressure stall information", "the kernel shows no /proc/pressure", "boot with psi=1");
}

DoctorRow energy_row() {
  const EnergyMeter meter;
  if (meter.available()) return yes("energy", cat("powercap: ", join(meter.scope(), ", ")));
  const bool rights = meter.reason().find("root") != std::string::npos;
  return no(
      "energy", meter.reason(),
      rights ? "run as root, or: chmod a+r /sys/class/powercap/*/energy_uj" : "virtual machines rarely have them");
}

// Opens a counter of retired instructions of this process.
DoctorRow pmu_row() {
  const char* item = "hardware counters (PMU), unverified on hardware";
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const PerfEvent event(attributes, 0);
  if (event.is_open()) return yes(item, "perf_event_open");
  const Refusal refusal = refusal_of(event.refusal());
  return no(item, refusal.reason, refusal.remedy);
}

// A counter of the kernel's own, with what it does for the thread.
DoctorRow kernel_counters_row() {
  const char* item = "faults, context switches by the kernel's counters";
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  const PerfEvent event(attributes, 0);
  if (event.is_open()) return yes(item, "perf_event_open");
  const Refusal refusal = refusal_of(event.refusal());
  return no(item, refusal.reason, refusal.remedy);
}

DoctorRow switches_row() {
  const SwitchRing ring(gettid(), static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  if (ring.is_open()) return yes("off-CPU time of each thread", "perf_event_open, records of context switches");
  return no("off-CPU time of each thread", ring.reason(),
            "sysctl kernel.perf_event_paranoid=2; in a container also a seccomp profile that allows perf_event_open");
}

DoctorRow kernel_row(const FlopKernel& kernel) {
  std::string item = cat("peak ", kernel.name, " ", kernel.type);
  std::string reason = kernel.unavailable();
  if (reason.empty()) return yes(std::move(item), std::string(kernel.instruction));
  return no(std::move(item), std::move(reason));
}

DoctorRow huge_pages_row() {
  const auto text = read_system_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (text && text->find("[never]") == std::string::npos) return yes("transparent huge pages", *text);
  return no("transparent huge pages", text ? "switched off" : "the kernel has none",
            text ? "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled" : "");
}

// Two hyperthreads of one core compute little more together than one alone, whatever the system says of them: virtual
// machines hide it.
DoctorRow siblings_row() {
  const char* item = "cores that do not share a core";
  const std::vector<int> cores = allowed_cpus();
  if (cores.size() < 2) return yes(item, "one core");
  const auto best = [](const std::vector<int>& of) {
    SpeedProbe probe(of);
    double rate = 0;
    for (int i = 0; i < 10; ++i) rate = std::max(rate, probe.measure().fma_flop_rate.value_or(0));
    return rate;
  };
  const double one = best({cores[0]}), each = best({cores[0], cores[1]});
  if (!(one > 0)) return no(item, "no register kernel for this processor");
  const std::string found = cat("two threads compute ", significant(2 * each / one, 3), " times as fast as one");
  if (2 * each / one >= kSharedCore) return yes(item, found);
  return no(item, found + ": they are hyperthreads of one core, or a neighbour is on it",
            "--threads 1 measures a core alone");
}

}  // namespace

std::vector<DoctorRow> doctor_rows() {
  std::vector<DoctorRow> rows = {cores_row(),           siblings_row(), schedstat_row(), steal_row(),
                                 cgroup_row(),          pressure_row(), energy_row(),    pmu_row(),
                                 kernel_counters_row(), switches_row(), huge_pages_row()};
  for (DoctorRow& row : gpu_rows({.administrator = geteuid() == 0})) rows.push_back(std::move(row));
  for (const FlopKernel& kernel : flop_kernels()) rows.push_back(kernel_row(kernel));
  if (flop_kernels().empty()) rows.push_back(no("peaks", "the register kernels are written for x86-64 only"));
  return rows;
}

}  // namespace tbd
