// Pass memory of a framework that tells of no allocation: who holds which bytes, as far as can be known (evidence
// `plan`). What the state and the inputs take is exact, by role. All else of a step is one block of the class
// `planned`: what was in use beyond these. It ends with the step, or the framework keeps it for the next one.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "measure/memory_ledger.h"

namespace tbd {

// From here on a change of what the heap keeps from step to step is told: less is small blocks that come and go.
inline constexpr int64_t kNoticedHeapBytes = 64 << 10;

class PlannedMemory {
 public:
  // `note` says what the block holds and what is not told.
  PlannedMemory(MemoryLedger& ledger, std::string note);
  PlannedMemory(const PlannedMemory&) = delete;
  PlannedMemory& operator=(const PlannedMemory&) = delete;

  // A tensor of the state, by its name there (worker/store.h).
  void owns(const std::string& name, size_t bytes);
  // An input, by name: told once, since a later batch has the same sizes.
  void stages(const std::string& name, size_t bytes);
  void begin_step(int64_t number);
  // `in_use`: bytes, those that were told among them. At most during the step, which then frees the others;
  void end_step(int64_t in_use);
  // or at its end, where the framework keeps the others. Those of a step before are among them. Changes below
  // kNoticedHeapBytes are not told.
  void end_step_keeping(int64_t in_use);

 private:
  void tell(MemoryLedger::Handle handle, size_t bytes, MemoryClass kind);
  void plan(int64_t bytes);

  MemoryLedger& ledger_;
  std::set<std::string> names_;  // that were told; their addresses are the handles
  int64_t told_ = 0;
  int64_t kept_ = 0;  // planned, since a step before
  int64_t begun_ns_ = 0;
};

// Throws Error(unsupported) where malloc is not the C library's, whose heap the pass counts (c_heap_bytes).
void require_c_heap(std::string_view framework);

}  // namespace tbd
