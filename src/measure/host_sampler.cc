#include "measure/host_sampler.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "measure/cgroup.h"
#include "measure/clock.h"
#include "measure/cores.h"

namespace tbd {
namespace {

std::string proc(pid_t pid) { return "/proc/" + std::to_string(pid); }

int64_t tick_ns() {
  static const int64_t ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  return ns;
}

// CPU time of a live process with its ended threads, exact; nullopt if it is gone.
std::optional<int64_t> process_cpu_ns(pid_t pid) {
  clockid_t clock{};
  timespec t{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return std::nullopt;
  return ns_of(t);
}

std::optional<int64_t> stall_us(const SystemFile& file, std::string& buffer) {
  const auto text = file.read_once(buffer);
  return text ? parse_pressure_total(*text) : std::nullopt;
}

}  // namespace

struct HostSampler::Process {
  struct Thread {
    SystemFile schedstat, status;
    std::string name;
  };
  pid_t pid = 0;
  SystemFile stat, status;
  std::map<pid_t, Thread> threads;

  explicit Process(pid_t id) : pid(id), stat(proc(id) + "/stat"), status(proc(id) + "/status") {}

  // Opens the files of new threads and closes those of ended ones.
  void refresh() {
    std::map<pid_t, Thread> live;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(proc(pid) + "/task", error)) {
      const std::string folder = entry.path().string();
      const auto tid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
      if (auto known = threads.find(tid); known != threads.end() && known->second.schedstat.is_open()) {
        live.insert(threads.extract(known));
        continue;
      }
      live[tid] = {SystemFile(folder + "/schedstat"), SystemFile(folder + "/status"),
                   read_system_line(folder + "/comm").value_or("")};
    }
    threads = std::move(live);
  }
};

HostSampler::HostSampler(pid_t root)
    : root_(root),
      cpus_(allowed_cpus(root)),
      machine_("/proc/stat"),
      cpu_pressure_("/proc/pressure/cpu"),
      memory_pressure_("/proc/pressure/memory"),
      io_pressure_("/proc/pressure/io") {
  for (const std::string& file : throttle_files(root)) throttle_.emplace_back(file);
}

HostSampler::~HostSampler() = default;

HostSample HostSampler::sample() {
  HostSample sample{.time_ns = now_ns()};
  const std::vector<pid_t> tree = process_tree(root_);
  std::erase_if(processes_,
                [&](const auto& known) { return std::find(tree.begin(), tree.end(), known.first) == tree.end(); });
  for (const pid_t pid : tree) add(pid, sample);
  if (sample.processes == 0) fail(ErrorKind::io, "process ", root_, " has ended");
  add_machine(sample);
  return sample;
}

void HostSampler::add(pid_t pid, HostSample& sample) {
  auto& process = processes_[pid];
  if (!process) process = std::make_unique<Process>(pid);
  const auto text = process->stat.read_once(buffer_);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return;
  ++sample.processes;
  const int64_t children_ns = (stat->child_user_ticks + stat->child_system_ticks) * tick_ns();
  sample.user_ns += (stat->user_ticks + stat->child_user_ticks) * tick_ns();
  sample.system_ns += (stat->system_ticks + stat->child_system_ticks) * tick_ns();
  sample.cpu_ns += children_ns + process_cpu_ns(pid).value_or((stat->user_ticks + stat->system_ticks) * tick_ns());
  sample.minor_faults += stat->minor_faults + stat->child_minor_faults;
  sample.major_faults += stat->major_faults + stat->child_major_faults;
  sample.rss_bytes += stat->resident_pages * sysconf(_SC_PAGESIZE);
  if (pid == root_)
    if (const auto status = process->status.read_once(buffer_))
      sample.peak_rss_bytes = bytes_of_line(parse_colon_lines(*status), "VmHWM");
  add_threads(*process, sample);
}

void HostSampler::add_threads(Process& process, HostSample& sample) {
  process.refresh();
  for (const auto& [tid, thread] : process.threads) {
    const auto text = thread.schedstat.read_once(buffer_);
    const auto schedule = text ? parse_schedstat(*text) : std::nullopt;
    if (!schedule) continue;
    ThreadTimes times{process.pid, tid, thread.name, schedule->cpu_ns, schedule->wait_ns};
    if (const auto status = thread.status.read_once(buffer_)) {
      const auto count = [&](std::string_view key) {
        const size_t at = status->find(key);
        return at == std::string_view::npos ? 0 : std::atoll(status->data() + at + key.size());
      };
      times.voluntary_switches = count("\nvoluntary_ctxt_switches:");
      times.involuntary_switches = count("\nnonvoluntary_ctxt_switches:");
    }
    sample.threads.push_back(std::move(times));
  }
}

void HostSampler::add_machine(HostSample& sample) {
  if (const auto text = machine_.read(buffer_)) {
    const std::map<int, CpuTicks> all = parse_machine_stat(*text);
    for (const int cpu : cpus_)
      if (const auto found = all.find(cpu); found != all.end()) sample.cpus.push_back(*found);
  }
  for (const SystemFile& file : throttle_) {
    const auto text = file.read_once(buffer_);
    if (!text) continue;
    const auto keys = parse_flat_keys(*text);
    const auto v1 = keys.find("throttled_time"), v2 = keys.find("throttled_usec");
    if (v1 != keys.end()) sample.throttled_ns = sample.throttled_ns.value_or(0) + v1->second;
    if (v2 != keys.end()) sample.throttled_ns = sample.throttled_ns.value_or(0) + v2->second * 1000;
  }
  sample.cpu_stall_us = stall_us(cpu_pressure_, buffer_);
  sample.memory_stall_us = stall_us(memory_pressure_, buffer_);
  sample.io_stall_us = stall_us(io_pressure_, buffer_);
  sample.energy_uj = energy_.read_uj();
}

}  // namespace tbd
