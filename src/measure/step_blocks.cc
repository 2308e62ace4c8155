#include "measure/step_blocks.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "measure/clock.h"

namespace tbd {
namespace {

constexpr double kMostShare = 0.003;  // of the time that measuring may take
constexpr int64_t kLeastBlockNs = 500'000'000;

int64_t own_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return ns_of(t);
}

}  // namespace

StepBlocks::StepBlocks(const std::vector<int>& cores) : probe_(cores), cores_(cores), machine_("/proc/stat") {}

void StepBlocks::begin() {
  foreign_ns();
  began_ns_ = now_ns();
}

// The machine's busy time on these cores that was not this process's, since the call before.
std::optional<int64_t> StepBlocks::foreign_ns() {
  static const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  const std::optional<int64_t> busy_before = machine_busy_ns_;
  const int64_t own_before = own_ns_;
  own_ns_ = own_cpu_ns();
  machine_busy_ns_.reset();
  if (const auto text = machine_.read(buffer_)) {
    const std::map<int, CpuTicks> all = parse_machine_stat(*text);
    int64_t ticks = 0;
    for (const int cpu : cores_)
      if (const auto found = all.find(cpu); found != all.end()) ticks += found->second.busy();
    machine_busy_ns_ = ticks * tick_ns;
  }
  if (!busy_before || !machine_busy_ns_) return std::nullopt;
  return std::max<int64_t>(0, *machine_busy_ns_ - *busy_before - (own_ns_ - own_before));
}

bool StepBlocks::is_over() const { return now_ns() - began_ns_ >= block_ns_; }

void StepBlocks::end(StepRow& row) {
  const int64_t ended = now_ns();
  row.foreign_ns = foreign_ns();
  const CoreSpeed speed = probe_.measure();
  if (speed.fma_flop_rate) row.fma_flop_rate = std::llround(*speed.fma_flop_rate);
  row.read_byte_rate = std::llround(speed.read_byte_rate);
  foreign_ns();  // the probe's own time belongs to no block
  began_ns_ = now_ns();
  row.pause_ns = began_ns_ - ended;
  block_ns_ = std::max(kLeastBlockNs, static_cast<int64_t>(static_cast<double>(*row.pause_ns) / kMostShare));
}

}  // namespace tbd
