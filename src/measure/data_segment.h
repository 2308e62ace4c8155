// The private memory that another process may write, watched while it works.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <thread>

namespace tbd {

// Looks at VmData of /proc/PID/status every millisecond, from its construction to peak(): what RLIMIT_DATA counts, as
// heap, anonymous mappings (touched or not) and stacks. The kernel keeps no peak of it, so what is freed within a
// millisecond may be missed.
class DataSegmentWatch {
 public:
  explicit DataSegmentWatch(pid_t process);
  // Ends the watch. The highest value seen, bytes; nullopt where none could be read.
  std::optional<int64_t> peak();

 private:
  void watch(const std::stop_token& stop, pid_t process);

  int64_t peak_ = 0;
  std::jthread thread_;  // writes peak_ until it is joined
};

}  // namespace tbd
