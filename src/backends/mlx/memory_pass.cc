#include "backends/mlx/memory_pass.h"

#include <mlx/memory.h>

#include <algorithm>

namespace tbd::mlx {
namespace {

constexpr const char* kNote =
    "Weights, optimizer state, averages, running statistics and inputs are arrays of the back-end and exact. Feature "
    "maps, "
    "gradients, workspace and temporaries are one class, planned: MLX evaluates forward, backward and update at once "
    "and "
    "tells of no allocation. They are one block for each step, from its begin to its end: MLX's peak of bytes in use "
    "less "
    "what is owned. Not told are blocks that MLX has got back and keeps, and what its BLAS and the process take.";

}  // namespace

MemoryWatch::MemoryWatch(MemoryLedger& ledger) : ledger_(ledger) { ledger_.evidence(MemoryEvidence::plan, kNote); }

void MemoryWatch::tell(MemoryLedger::Handle handle, size_t bytes, MemoryClass kind) {
  const auto size = static_cast<int64_t>(bytes);
  ledger_.allocated(handle, size, size);
  ledger_.classify(handle, kind);
  owned_ += size;
}

void MemoryWatch::owns(const Weights& weights) {
  ledger_.enter(MemoryPhase::setup);
  for (const std::string& name : weights.names()) {
    const Held& held = weights.held(name);
    tell(&held, held.data->nbytes(), class_of_state(name));
  }
}

void MemoryWatch::stages(const std::map<std::string, array>& inputs) {
  ledger_.enter(MemoryPhase::input);
  for (const auto& [name, value] : inputs)
    if (const auto [told, is_new] = inputs_.insert(name); is_new) tell(&*told, value.nbytes(), MemoryClass::input);
}

void MemoryWatch::begin_step(int64_t number) {
  ledger_.begin_step(number);
  ledger_.enter(MemoryPhase::forward);
  begun_ns_ = now_ns();
  mx::reset_peak_memory();
}

void MemoryWatch::end_step() {
  const int64_t beside = std::max<int64_t>(static_cast<int64_t>(mx::get_peak_memory()) - owned_, 0);
  ledger_.at(begun_ns_);
  ledger_.allocated(this, beside, beside);
  ledger_.classify(this, MemoryClass::planned);
  ledger_.at(std::nullopt);
  ledger_.freed(this);
}

}  // namespace tbd::mlx
