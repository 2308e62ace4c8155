// How fast the cores are at this instant. A neighbour on a sibling hyperthread, or on another machine of the same host,
// slows a core down without steal and without run-queue wait, and CPU time is not immune: only work of a known size
// shows it. The work is bound by throughput (independent multiply-adds, reads from memory), as training is; a chain of
// dependent operations would stay constant.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tbd {

// Each is the slowest core's, as all cores work at once: a step that shares its work equally waits for that one.
struct CoreSpeed {
  std::optional<double> fma_flop_rate;  // FLOP/s of fp32 multiply-adds in registers; absent where no kernel can run
  double read_byte_rate = 0;            // B/s of reads that no cache holds (other than on x86-64 a cache may)
};

// A thread for each core, bound to it and asleep between measurements. A measurement is about 0.2 ms of multiply-adds
// and 0.5 ms of reads on each core, each in four parts of which the fastest counts: an interrupt slows one. A core
// reads 4 MiB, less where all would read more than 64 MiB.
class SpeedProbe {
 public:
  explicit SpeedProbe(const std::vector<int>& cores);  // throws Error(io) if a core refuses
  ~SpeedProbe();
  SpeedProbe(const SpeedProbe&) = delete;
  SpeedProbe& operator=(const SpeedProbe&) = delete;

  CoreSpeed measure();
  int64_t buffer_bytes() const;  // resident for as long as the probe lives

 private:
  struct Team;
  std::unique_ptr<Team> team_;
};

}  // namespace tbd
