// Pass memory: tells a ledger what a session owns and, run by run, what TensorFlow recorded of the rest.
#pragma once
#include "backends/tensorflow/memory_blocks.h"
#include "backends/tensorflow/weights.h"
#include "measure/memory_ledger.h"

namespace tbd::tensorflow {

class MemoryPass {
 public:
  // `compiled`: what compiled code takes inside is not known either, which is said.
  MemoryPass(MemoryLedger& ledger, const OpOrigins& origins, bool compiled, Blocks where)
      : ledger_(ledger), origins_(origins), compiled_(compiled), where_(where) {}

  void own(const std::vector<Weights::Owned>& variables);
  // The staged inputs, in place of those before.
  void stage(const std::vector<int64_t>& bytes);
  // A run of step `step`, after it ended. Also says how much is known by now.
  void add(const RunRecord& run, int64_t step);

 private:
  struct Variable {
    MemoryLedger::Handle handle;
    int64_t bytes;
    MemoryClass kind;
  };
  struct Event {
    int64_t when;
    int order;  // of events of one time
    size_t block;
    enum class What { comes, goes, replaces } what;  // replaces: the variable's value of before goes
  };

  MemoryLedger::Handle take(int64_t bytes, MemoryClass kind);
  bool by_malloc(int64_t bytes) const;
  int64_t held(int64_t bytes) const;
  int64_t counted(int64_t bytes) const;        // by the allocator itself
  bool is_value(const RunBlock& block) const;  // that a variable keeps
  std::vector<Event> events_of(const RunBlocks& blocks, const RunRecord& run);
  void replay(const RunBlocks& blocks, const RunRecord& run);
  void compare(const RunBlocks& blocks);
  void say();

  MemoryLedger& ledger_;
  const OpOrigins& origins_;
  bool compiled_;
  Blocks where_;
  std::map<std::string, Variable> variables_;
  std::vector<MemoryLedger::Handle> inputs_;
  uintptr_t handles_ = 0;
  int64_t large_owned_ = 0;  // bytes of variables and inputs that the allocator counts
  int64_t unmatched_ = 0, left_ = 0, ops_without_time_ = 0;
  int64_t counted_ = 0, told_ = 0;  // at the allocator's own peak: its bytes, and those of ours that it counts
};

}  // namespace tbd::tensorflow
