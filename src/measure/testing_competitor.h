// For tests of time without a processor.
#pragma once
#include <atomic>
#include <thread>

#include "measure/cores.h"

namespace tbd {

// A thread with work of its own on one processor, which never rests.
class Competitor {
 public:
  explicit Competitor(int cpu)
      : thread_([this, cpu] {
          bind_thread({cpu});
          while (!stop_.load(std::memory_order_relaxed)) continue;
        }) {}
  ~Competitor() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace tbd
