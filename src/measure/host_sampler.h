// Reads what a process tree and its machine have used. Descriptors stay open between samples.
#pragma once
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/energy.h"
#include "measure/host_sample.h"
#include "measure/system_file.h"

namespace tbd {

// Samples the tree of `root` (the calling process, or a worker) from outside any step. Not for use by two threads.
class HostSampler {
 public:
  explicit HostSampler(pid_t root);
  ~HostSampler();
  HostSampler(const HostSampler&) = delete;
  HostSampler& operator=(const HostSampler&) = delete;

  // Throws Error(io) when the root process is gone.
  HostSample sample();
  const EnergyMeter& energy() const { return energy_; }

 private:
  struct Process;
  void add(pid_t pid, HostSample& sample);
  void add_threads(Process& process, HostSample& sample);
  void add_machine(HostSample& sample);
  pid_t root_;
  std::vector<int> cpus_;  // the root's affinity when sampling began
  std::map<pid_t, std::unique_ptr<Process>> processes_;
  std::vector<SystemFile> throttle_;
  SystemFile machine_, cpu_pressure_, memory_pressure_, io_pressure_;
  EnergyMeter energy_;
  std::string buffer_;
};

// The processes below `root` (itself first), by their parents.
std::vector<pid_t> process_tree(pid_t root);

// The part of a sample that is read at each step, of the calling process: two system calls and one small read.
struct StepUsage {
  int64_t user_ns = 0, system_ns = 0;  // of all its threads, ended ones too; not of its children
  int64_t minor_faults = 0, major_faults = 0;
  int64_t voluntary_switches = 0, involuntary_switches = 0;
  int64_t rss_bytes = 0;
  int64_t peak_rss_bytes = 0;
};
class StepSampler {
 public:
  StepSampler();
  StepUsage read();

 private:
  SystemFile statm_;
  std::string buffer_;
  int64_t page_bytes_;
};

// Time that threads of the calling process, together, were runnable without a core since this was made. Threads that
// end take what they waited after the last read with them; new ones are looked for at every 16th read.
class RunqueueSampler {
 public:
  RunqueueSampler();
  std::optional<int64_t> read_ns();  // nullopt where the kernel keeps no schedstat

 private:
  struct Thread {
    SystemFile file;
    int64_t last_ns = 0;
  };
  void look_for_threads();
  std::map<pid_t, Thread> threads_;
  std::string buffer_;
  int64_t total_ns_ = 0, reads_ = 0;
};

// Steal of the whole machine in clock ticks, read at most every 100 ms: the file is long on machines with many cores.
class StealSampler {
 public:
  StealSampler();
  std::optional<int64_t> read_ticks(int64_t now);  // of the last reading; `now` is now_ns()

 private:
  SystemFile stat_;
  std::string buffer_;
  std::optional<int64_t> ticks_;
  int64_t read_at_ = 0;
};

}  // namespace tbd
