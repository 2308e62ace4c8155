// The kernel's records of one thread's context switches: perf_event_open(2), a dummy event with a ring of its own. What
// may not look into the kernel may still see when it was switched (kernel.perf_event_paranoid of at most 2).
#pragma once
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/perf_event.h"

namespace tbd {

// PERF_RECORD_SWITCH and PERF_RECORD_LOST.
struct ThreadSwitch {
  enum class Kind : uint8_t { in, waits, preempted, lost };  // waits, preempted: out; preempted: while it could run
  int64_t time_ns = 0;                                       // on the clock of now_ns()
  Kind kind = Kind::in;
  int64_t lost = 0;  // records that the ring had no room for, of kind lost
  bool operator==(const ThreadSwitch&) const = default;
};

class SwitchRing {
 public:
  // Records from now on. `bytes` of ring: a power of two and of whole pages; fewer where the system locks no more. A
  // ring that could not be opened has a reason.
  SwitchRing(pid_t thread, size_t bytes);
  ~SwitchRing();
  SwitchRing(SwitchRing&& other) noexcept;
  SwitchRing& operator=(SwitchRing&& other) = delete;
  SwitchRing(const SwitchRing&) = delete;

  bool is_open() const { return map_ != nullptr; }
  const std::string& reason() const { return reason_; }
  // Whether the thread had ended before the ring could be opened.
  bool is_gone() const { return event_.refusal() == ESRCH; }
  pid_t thread() const { return thread_; }
  // To be polled: readable when the ring is half full.
  int descriptor() const { return event_.descriptor(); }
  // Appends what came since the last call, in order of time, and makes room. True where there had been room for all;
  // else the latest may be lost, and their number comes with the next switch. Not for two threads at once.
  bool take(std::vector<ThreadSwitch>& switches);

 private:
  void map(size_t bytes);

  pid_t thread_;
  PerfEvent event_;
  void* map_ = nullptr;  // a page of the kernel's numbers, then the ring
  size_t bytes_ = 0;     // of the ring
  std::string reason_;
  std::vector<std::byte> unread_;
};

// What a stretch of such a ring says; other records are passed over. Throws Error(invalid) on a torn record.
std::vector<ThreadSwitch> parse_switches(std::span<const std::byte> records);

}  // namespace tbd
