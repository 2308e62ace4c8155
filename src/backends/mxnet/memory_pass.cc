#include "backends/mxnet/memory_pass.h"

#include <cmath>

#include <algorithm>
#include <cstdlib>

#include "backends/mxnet/plan.h"
#include "measure/malloc_libraries.h"
#include "worker/planned_memory.h"

namespace tbd::mxnet {
namespace {

constexpr const char* kNote =
    "Weights, their gradients, optimizer state, running statistics and inputs are arrays of the back-end and exact. "
    "Feature maps, gradients of activations, workspace and temporaries are one class, planned: MXNet's executor puts "
    "them into shared blocks whose places it does not tell, only their sum, in whole MiB rounded down, as one block "
    "per "
    "executor from its first run on. One more block is what the heap kept of steps beyond these sums: scratch space "
    "that ops share, arrays in oneDNN's layouts, and the remainders of MiB. It is told at the end of each step that "
    "moved it by 64 KiB or more, so what an op allocates and releases within a step is not seen. Not told are MXNet's "
    "own "
    "tables and code and what oneDNN compiles.";

}  // namespace

MemoryWatch::MemoryWatch(MemoryLedger& ledger) : ledger_(ledger) {
  require_c_heap("mxnet");
  ledger_.evidence(MemoryEvidence::plan, kNote);
}

void MemoryWatch::owns(const Array& array, MemoryClass kind) {
  if (!array || !told_.insert(array.handle()).second) return;
  const auto bytes = array.shape().elements() * static_cast<int64_t>(size_of(array.dtype()));
  ledger_.allocated(array.handle(), bytes, bytes);
  ledger_.classify(array.handle(), kind);
}

void MemoryWatch::begin_step(int64_t number) {
  ledger_.begin_step(number);
  ledger_.enter(MemoryPhase::forward);
  heap_before_ = c_heap_bytes();
}

void MemoryWatch::end_step(const std::vector<const Executor*>& ran) {
  kept_ += c_heap_bytes() - heap_before_;
  const auto plan = [this](const void* handle, int64_t bytes) {
    ledger_.allocated(handle, bytes, bytes);
    ledger_.classify(handle, MemoryClass::planned);
  };
  for (const Executor* executor : ran) {
    if (!told_.insert(executor).second) continue;
    const int64_t bytes = planned_bytes(executor->plan());
    planned_ += bytes;
    if (bytes > 0) plan(executor, bytes);
  }
  const int64_t beyond = std::max<int64_t>(kept_ - planned_, 0);
  if (std::abs(beyond - std::max<int64_t>(beyond_plan_, 0)) < kNoticedHeapBytes) return;
  if (beyond_plan_ >= 0) ledger_.freed(this);
  plan(this, beyond);
  beyond_plan_ = beyond;
}

}  // namespace tbd::mxnet
