// An event of the kernel's perf_event_open(2), and what its refusals mean.
#pragma once
#include <linux/perf_event.h>
#include <sys/types.h>

#include <string>

namespace tbd {

class PerfEvent {
 public:
  PerfEvent() = default;  // none
  // Of `thread` (0: the calling one) on whatever processor it runs; in the group that `leader` leads, or alone.
  // attributes.size is set here. What the system refuses is not open.
  PerfEvent(perf_event_attr attributes, pid_t thread, const PerfEvent* leader = nullptr);
  ~PerfEvent();
  PerfEvent(PerfEvent&& other) noexcept;
  PerfEvent& operator=(PerfEvent&& other) noexcept;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  int refusal() const { return refusal_; }  // errno; 0 where it is open

 private:
  int descriptor_ = -1, refusal_ = 0;
};

struct Refusal {
  std::string reason, remedy;  // the remedy is one line that a person can act on; empty when there is none
};
// Of an event that the kernel knows.
Refusal refusal_of(int error);

}  // namespace tbd
