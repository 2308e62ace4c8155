// Who holds which bytes, while they are held: every allocation and release of a process with the role of what lies
// there. An adapter of the framework tells; roles come from the graph, never from names (docs/profile.md).
// What the ledger notes lies outside of the heap that it watches: blocks of its own between the framework's would
// change which of these malloc joins and gives back, and with it page faults and time of the step.
#pragma once
#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "measure/clock.h"
#include "measure/mapped_memory.h"
#include "record/memory_log.h"

namespace tbd {

// Bytes asked for, by class.
using MemoryTotals = std::array<int64_t, kMemoryClasses>;

class MemoryLedger {
 public:
  using Handle = const void*;  // address of the storage

  explicit MemoryLedger(std::vector<std::string> nodes = {}, std::function<int64_t()> clock = now_ns);

  // What is told from now on happened then, for an adapter that tells afterwards; nullopt: now, by the clock. Times
  // must not fall: Error(invalid).
  void at(std::optional<int64_t> time_ns);
  // Steps count from 1; before the first it is 0.
  void begin_step(int64_t number);
  // Work from now on is of this phase, outside nodes.
  void enter(MemoryPhase phase);
  // Work from now on is one execution of this node (of the names given; -1: of none) in the phase entered.
  void execute(int32_t node);

  void allocated(Handle handle, int64_t requested, int64_t held);
  // A handle that is not live is counted and otherwise passed over.
  void freed(Handle handle);
  // What lies there has this role, for all of its life. The last word holds. False where nothing is live there.
  bool classify(Handle handle, MemoryClass kind);
  // What lies there belongs to this node, whoever made it: a weight to the node that reads it.
  void belongs(Handle handle, int32_t node);
  // As classify, unless a role was given before.
  bool propose(Handle handle, MemoryClass kind);
  // The adapter tells which blocks tensors lie in: what is allocated from now on, shown as none and given no role by
  // classify or propose is library_workspace, whatever settle says.
  void tell_tensors();
  // A tensor lies there. Passed over where nothing is live.
  void show_tensor(Handle handle);
  // How far to trust what is told here; exact unless said.
  void evidence(MemoryEvidence level, std::string note);
  // All that is live and has no role yet has this one.
  void settle(MemoryClass kind);

  // What is live now. Blocks without a role yet are temporary.
  MemoryTotals live() const;
  int64_t live_bytes() const;
  int64_t held_bytes() const;  // of what is live, as the allocator rounds
  int64_t peak_bytes() const;
  // Of what is live and held, the bytes that lie in memory: pages never touched do not.
  int64_t resident_bytes() const;
  int64_t own_bytes() const;  // that the ledger itself takes, about
  // Of all until now. Blocks without a role: library_workspace where tensors are told and none lay there, else
  // workspace where the execution that made them released them, else activation_grad where backward made them, else
  // temporary.
  MemoryLog log() const;

 private:
  struct Held {
    MemoryBlock block;
    uint32_t execution;
    bool decided = false;
    bool no_tensor = false;  // as far as is told
  };
  uint32_t event();
  int64_t time() const { return at_ ? *at_ : clock_(); }
  static MemoryClass role(const Held& held, bool freed_by_maker);
  bool set_role(Handle handle, MemoryClass kind, bool only_first);

  mutable std::mutex mutex_;
  std::function<int64_t()> clock_;
  std::optional<int64_t> at_;
  MemoryLog log_;  // without what lies below: its blocks, events and marks
  MappedMemory pages_;
  std::pmr::unsynchronized_pool_resource pool_{&pages_};
  std::pmr::vector<Held> all_{&pages_};
  std::pmr::vector<int64_t> event_ns_{&pages_};
  std::pmr::vector<MemoryMark> marks_{&pages_};
  std::pmr::unordered_map<Handle, size_t> live_{&pool_};  // to its place among all
  MemoryTotals totals_{};
  int64_t live_bytes_ = 0, peak_bytes_ = 0, step_ = 0;
  uint32_t execution_ = 0;
  bool tensors_told_ = false;
  int32_t node_ = -1;
  MemoryPhase phase_ = MemoryPhase::setup;
};

}  // namespace tbd
