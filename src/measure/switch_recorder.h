// When the threads of this process had no processor: spans from the kernel's records of their context switches.
#pragma once
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "measure/switch_ring.h"

namespace tbd {

// A thread without a processor, from when it was switched out to when it was switched in, on the clock of now_ns().
struct OffCpuSpan {
  int64_t begin = 0, end = 0;
  int64_t thread = 0;  // id of the system
  // It could have run: another thread got its processor, or a quota was used up. Otherwise it waited of its own will;
  // such a span holds the wait for a processor after it was woken, too, which the kernel does not tell apart here.
  bool preempted = false;
  bool operator==(const OffCpuSpan&) const = default;
};

// Pairs what switched one thread out with what switched it in again.
class SwitchPairs {
 public:
  explicit SwitchPairs(int64_t thread, bool waits = true) : thread_(thread), waits_(waits) {}  // waits: kept as well
  // Switches in order of time. What ran when recording began has no begin and is left out; so is what a loss touches.
  void add(std::span<const ThreadSwitch> switches, std::vector<OffCpuSpan>& spans);
  void forget() { out_ = false; }  // what is open: its end may be lost
  // What is open ends here.
  void finish(int64_t now_ns, std::vector<OffCpuSpan>& spans);
  int64_t lost() const { return lost_; }

 private:
  void close(int64_t end, std::vector<OffCpuSpan>& spans);
  int64_t thread_, lost_ = 0;
  bool waits_, out_ = false;
  ThreadSwitch since_;
};

// Of the threads that exist when it is made: every preemption of each, and of the calling thread its waits, too (the
// others' waits for work are many and say nothing). Threads that begin later are not seen. A thread of its own, which
// is not seen either, empties the rings as often as one is half full: not at all where switches are few.
class SwitchRecorder {
 public:
  SwitchRecorder();
  ~SwitchRecorder();
  SwitchRecorder(const SwitchRecorder&) = delete;
  SwitchRecorder& operator=(const SwitchRecorder&) = delete;
  // Whether anything is recorded, and why not: the system may forbid perf_event_open, or have none.
  bool available() const { return !rings_.empty(); }
  const std::string& reason() const { return reason_; }
  size_t threads() const { return rings_.size(); }     // that are recorded
  size_t threads_without() const { return refused_; }  // where the system gave no ring, for that reason

  // Ends the recording: all spans, of each thread in order of time; what is open ends now.
  std::vector<OffCpuSpan> finish();
  // Switches that were lost, at least, because a ring or the memory for spans (a million) was full. After finish. A
  // ring of 64 KiB holds 1,365 spans.
  int64_t lost() const;

 private:
  struct Thread {
    SwitchRing ring;
    SwitchPairs pairs;
    bool whole = true;  // the last time that its ring was emptied
  };
  void collect();
  void collect_until_woken();
  void stop();
  std::vector<Thread> rings_;
  std::string reason_;
  std::vector<OffCpuSpan> spans_;
  std::vector<ThreadSwitch> taken_;
  size_t refused_ = 0;
  int64_t left_out_ = 0;
  int wake_ = -1;  // an eventfd that ends the collector
  std::thread collector_;
};

}  // namespace tbd
