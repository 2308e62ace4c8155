// Pass memory: who holds which bytes, as far as MXNet lets it be known (evidence `plan`). What the back-end itself
// allocated is told exactly, by role. What an executor allocates, with its first run, is one block of the class
// `planned`, in the whole MiB that MXNet's plan says; what the heap kept of steps beyond all plans is one block more.
#pragma once
#include <set>

#include "backends/mxnet/api.h"
#include "measure/memory_ledger.h"

namespace tbd::mxnet {

class MemoryWatch {
 public:
  // Throws Error(unsupported) where the process has another heap than the C library's.
  explicit MemoryWatch(MemoryLedger& ledger);
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  void enter(MemoryPhase phase) { ledger_.enter(phase); }
  // The array lives as long as the session; it is told once, however often it is named.
  void owns(const Array& array, MemoryClass kind);
  void begin_step(int64_t number);
  // All work of the step must be done. `ran`: all executors that have run so far.
  void end_step(const std::vector<const Executor*>& ran);

 private:
  MemoryLedger& ledger_;
  std::set<const void*> told_;
  int64_t heap_before_ = 0;   // the step
  int64_t kept_ = 0;          // of all steps until now
  int64_t planned_ = 0;       // by executors that ran
  int64_t beyond_plan_ = -1;  // as the ledger has it; -1: no block
};

}  // namespace tbd::mxnet
