#include "worker/planned_memory.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "measure/malloc_libraries.h"
#include "worker/store.h"

namespace tbd {

PlannedMemory::PlannedMemory(MemoryLedger& ledger, std::string note) : ledger_(ledger) {
  ledger_.evidence(MemoryEvidence::plan, std::move(note));
}

void PlannedMemory::tell(MemoryLedger::Handle handle, size_t bytes, MemoryClass kind) {
  const auto size = static_cast<int64_t>(bytes);
  ledger_.allocated(handle, size, size);
  ledger_.classify(handle, kind);
  told_ += size;
}

void PlannedMemory::owns(const std::string& name, size_t bytes) {
  ledger_.enter(MemoryPhase::setup);
  if (const auto [told, is_new] = names_.insert(name); is_new) tell(&*told, bytes, class_of_state(name));
}

void PlannedMemory::stages(const std::string& name, size_t bytes) {
  ledger_.enter(MemoryPhase::input);
  if (const auto [told, is_new] = names_.insert(name); is_new) tell(&*told, bytes, MemoryClass::input);
}

void PlannedMemory::begin_step(int64_t number) {
  ledger_.begin_step(number);
  ledger_.enter(MemoryPhase::forward);
  begun_ns_ = now_ns();
}

void PlannedMemory::plan(int64_t bytes) {
  ledger_.allocated(this, bytes, bytes);
  ledger_.classify(this, MemoryClass::planned);
}

void PlannedMemory::end_step(int64_t in_use) {
  ledger_.at(begun_ns_);
  plan(std::max<int64_t>(in_use - told_, 0));
  ledger_.at(std::nullopt);
  ledger_.freed(this);
}

void PlannedMemory::end_step_keeping(int64_t in_use) {
  const int64_t beside = std::max<int64_t>(in_use - told_, 0);
  if (std::abs(beside - kept_) < kNoticedHeapBytes) return;
  ledger_.at(begun_ns_);
  if (kept_ > 0) ledger_.freed(this);
  if (beside > 0) plan(beside);
  ledger_.at(std::nullopt);
  kept_ = beside;
}

void require_c_heap(std::string_view framework) {
  if (const std::vector<std::string> others = malloc_libraries(); !others.empty())
    fail(ErrorKind::unsupported, "pass memory of ", framework, " counts what the C library's heap keeps, and ",
         others.front(), " has taken its place: measure it with allocator stock or kept");
}

}  // namespace tbd
