#include "measure/memory_ledger.h"

#include <algorithm>

#include "base/error.h"
#include "measure/process_memory.h"

namespace tbd {
namespace {

constexpr size_t kFirstPages = 4096;  // rows: those of a few steps of a network without a move

size_t index(MemoryClass kind) { return static_cast<size_t>(kind); }

}  // namespace

MemoryLedger::MemoryLedger(std::vector<std::string> nodes, std::function<int64_t()> clock) : clock_(std::move(clock)) {
  log_.nodes = std::move(nodes);
  all_.reserve(kFirstPages);
  event_ns_.reserve(kFirstPages);
  marks_.reserve(kFirstPages);
  enter(MemoryPhase::setup);
}

void MemoryLedger::at(std::optional<int64_t> time_ns) {
  const std::lock_guard lock(mutex_);
  const int64_t last = std::max(event_ns_.empty() ? INT64_MIN : event_ns_.back(), marks_.back().time_ns);
  require(!time_ns || *time_ns >= last, "an event of ", time_ns.value_or(0), " ns after one of ", last, " ns");
  at_ = time_ns;
}

void MemoryLedger::begin_step(int64_t number) {
  const std::lock_guard lock(mutex_);
  step_ = number;
}

void MemoryLedger::enter(MemoryPhase phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  node_ = -1;
  ++execution_;
  marks_.push_back({static_cast<uint32_t>(event_ns_.size()), time(), step_, phase});
}

void MemoryLedger::execute(int32_t node) {
  const std::lock_guard lock(mutex_);
  require(node >= -1 && node < static_cast<int32_t>(log_.nodes.size()), "the ledger knows no node ", node);
  node_ = node;
  ++execution_;
}

void MemoryLedger::evidence(MemoryEvidence level, std::string note) {
  const std::lock_guard lock(mutex_);
  log_.evidence = level;
  log_.note = std::move(note);
}

uint32_t MemoryLedger::event() {
  event_ns_.push_back(time());
  return static_cast<uint32_t>(event_ns_.size() - 1);
}

void MemoryLedger::allocated(Handle handle, int64_t requested, int64_t held) {
  const std::lock_guard lock(mutex_);
  require(requested >= 0 && held >= requested, "a block of ", requested, " bytes in ", held);
  require(!live_.contains(handle), "allocated where another block is live");
  const MemoryBlock block{.requested = requested, .held = held, .born = event(), .node = node_, .phase = phase_};
  live_[handle] = all_.size();
  all_.push_back({.block = block, .execution = execution_, .no_tensor = tensors_told_});
  totals_[index(MemoryClass::temporary)] += requested;
  live_bytes_ += requested;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
}

MemoryClass MemoryLedger::role(const Held& held, bool freed_by_maker) {
  if (held.decided) return held.block.kind;
  if (held.no_tensor) return MemoryClass::library_workspace;
  if (freed_by_maker) return MemoryClass::workspace;
  return held.block.phase == MemoryPhase::backward ? MemoryClass::activation_grad : MemoryClass::temporary;
}

void MemoryLedger::freed(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(handle);
  if (found == live_.end()) {
    ++log_.unknown_frees;
    return;
  }
  Held& held = all_[found->second];
  held.block.freed = event();
  const MemoryClass counted = held.decided ? held.block.kind : MemoryClass::temporary;
  totals_[index(counted)] -= held.block.requested;
  live_bytes_ -= held.block.requested;
  held.block.kind = role(held, held.execution == execution_ && held.block.node >= 0);
  held.decided = true;
  live_.erase(found);
}

bool MemoryLedger::set_role(Handle handle, MemoryClass kind, bool only_first) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(handle);
  if (found == live_.end()) return false;
  Held& held = all_[found->second];
  if (held.decided && only_first) return true;
  totals_[index(held.decided ? held.block.kind : MemoryClass::temporary)] -= held.block.requested;
  totals_[index(kind)] += held.block.requested;
  held.block.kind = kind;
  held.decided = true;
  return true;
}

void MemoryLedger::belongs(Handle handle, int32_t node) {
  const std::lock_guard lock(mutex_);
  require(node >= 0 && node < static_cast<int32_t>(log_.nodes.size()), "the ledger knows no node ", node);
  if (const auto found = live_.find(handle); found != live_.end()) all_[found->second].block.node = node;
}

bool MemoryLedger::classify(Handle handle, MemoryClass kind) { return set_role(handle, kind, false); }
bool MemoryLedger::propose(Handle handle, MemoryClass kind) { return set_role(handle, kind, true); }

MemoryTotals MemoryLedger::live() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void MemoryLedger::tell_tensors() {
  const std::lock_guard lock(mutex_);
  tensors_told_ = true;
}

void MemoryLedger::show_tensor(Handle handle) {
  const std::lock_guard lock(mutex_);
  if (const auto found = live_.find(handle); found != live_.end()) all_[found->second].no_tensor = false;
}

void MemoryLedger::settle(MemoryClass kind) {
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, place] : live_) {
    Held& held = all_[place];
    if (held.decided) continue;
    const MemoryClass settled = held.no_tensor ? MemoryClass::library_workspace : kind;
    totals_[index(MemoryClass::temporary)] -= held.block.requested;
    totals_[index(settled)] += held.block.requested;
    held.block.kind = settled;
    held.decided = true;
  }
}

int64_t MemoryLedger::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

int64_t MemoryLedger::held_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [handle, place] : live_) bytes += all_[place].block.held;
  return bytes;
}

int64_t MemoryLedger::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

int64_t MemoryLedger::resident_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [handle, place] : live_) bytes += tbd::resident_bytes(handle, all_[place].block.held);
  return bytes;
}

int64_t MemoryLedger::own_bytes() const {
  const std::lock_guard lock(mutex_);
  constexpr size_t kOfLive = sizeof(Handle) + sizeof(size_t) + 2 * sizeof(void*);  // with the links of the table
  return static_cast<int64_t>(all_.size() * sizeof(Held) + event_ns_.size() * sizeof(int64_t) +
                              marks_.size() * sizeof(MemoryMark) + live_.size() * kOfLive +
                              live_.bucket_count() * sizeof(void*));
}

MemoryLog MemoryLedger::log() const {
  const std::lock_guard lock(mutex_);
  MemoryLog log = log_;
  log.event_ns.assign(event_ns_.begin(), event_ns_.end());
  log.marks.assign(marks_.begin(), marks_.end());
  log.blocks.reserve(all_.size());
  for (const Held& held : all_) {
    log.blocks.push_back(held.block);
    log.blocks.back().kind = role(held, false);
  }
  return log;
}

}  // namespace tbd
