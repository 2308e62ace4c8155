// What the memory pass sees of a phase: whose work allocates, in forward node by node, in backward by the sequence
// numbers that autograd gives to what a node's ops recorded.
#pragma once
#include <cstdint>

#include "backends/pytorch/node_sequences.h"
#include "measure/memory_ledger.h"

namespace at {
class Tensor;
}

namespace tbd::pytorch {

class PhaseWatch {
 public:
  // The phase's nodes have the numbers from `first_node` on in the ledger, which outlives the watch.
  PhaseWatch(MemoryLedger& ledger, int32_t first_node) : ledger_(ledger), nodes_(first_node) {}

  MemoryLedger& ledger() const { return ledger_; }
  void begin_forward();
  void begin_node();   // the next one
  void end_forward();  // what is left after the last is nobody's
  // What lies there has that role. An undefined tensor, or one without storage, is passed over.
  void classify(const at::Tensor& tensor, MemoryClass kind) const;

  // While it lives, the ops of autograd's nodes are the graph's nodes that these belong to. One at a time.
  class Backward {
   public:
    explicit Backward(PhaseWatch& watch);
    ~Backward();
    Backward(const Backward&) = delete;
    Backward& operator=(const Backward&) = delete;

   private:
    uint64_t callback_;  // at::CallbackHandle
  };

 private:
  void begin_autograd_node(int64_t sequence);

  MemoryLedger& ledger_;
  NodeSequences nodes_;
  int32_t last_node_ = -1;  // of backward
};

}  // namespace tbd::pytorch
