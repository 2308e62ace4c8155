#include "backends/tensorflow/memory_blocks.h"

#include <algorithm>

#include "base/text.h"

namespace tbd::tensorflow {
namespace {

MemoryPhase memory_phase(EventPhase phase) {
  if (phase == EventPhase::backward) return MemoryPhase::backward;
  return phase == EventPhase::update ? MemoryPhase::update : MemoryPhase::forward;
}

// What is known of a block beside what the caller is told.
struct Use {
  int64_t made_until = 0, last_read = 0;  // ends of the ops
  bool is_tensor = false, read_by_backward = false, read_by_update = false;
};

// What a tensor's name stands for: a block of this run, the value of a variable, or neither.
struct Place {
  int block = -1;
  std::string variable = {};
  uint64_t pointer = 0;
};

class Reading {
 public:
  Reading(const OpOrigins& origins, const OwnClock& clock, Blocks where)
      : origins_(origins), clock_(clock), of_gpu_(where == Blocks::of_gpu) {}

  void add(const RanOp& op) {
    const EventPhase phase = origins_.of(op.name, op.type).phase;
    for (const std::string_view input : op.inputs) read(op, input, phase);
    const std::vector<int> own = made(op, phase);
    for (const StepStatsOutput& output : op.stats.outputs) write(op, output, own);
    if (op.type.starts_with("Assign") && op.inputs.size() >= 2)
      if (const auto value = places_.find(op.inputs[1]); value != places_.end() && value->second.block >= 0)
        block(value->second.block).variable = variable_of(op.inputs[0]);
    release(op, own);
    if (op.type.starts_with("ResourceApply") || op.type.starts_with("Assign")) replace(op, own);
    for (const StepStatsUse& use : op.stats.in_use) {
      if (!is_ours(use.allocator) || use.bytes <= out_.counted) continue;
      out_.counted = use.bytes;
      out_.counted_at = op.end;
    }
  }
  RunBlocks finish();

 private:
  RunBlock& block(int index) { return out_.blocks[static_cast<size_t>(index)]; }
  Use& use(int index) { return uses_[static_cast<size_t>(index)]; }
  bool is_ours(std::string_view allocator) const { return allocator.starts_with("GPU_") == of_gpu_; }
  static std::string variable_of(std::string_view handle) { return std::string(handle.substr(0, handle.find(':'))); }

  void read(const RanOp& op, std::string_view input, EventPhase phase) {
    const auto found = places_.find(input);
    if (found == places_.end()) return;
    if (!found->second.variable.empty()) {
      int64_t& last = out_.last_reads[found->second.variable];
      last = std::max(last, op.end);
    }
    if (found->second.block < 0) return;
    Use& its = use(found->second.block);
    its.last_read = std::max(its.last_read, op.end);
    its.read_by_backward = its.read_by_backward || phase == EventPhase::backward;
    its.read_by_update = its.read_by_update || phase == EventPhase::update;
  }

  // The op's own allocations, in order.
  std::vector<int> made(const RanOp& op, EventPhase phase) {
    std::vector<int> own;
    for (const StepStatsAllocation& record : op.stats.allocations) {
      if (record.bytes <= 0 || !is_ours(record.allocator)) continue;
      own.push_back(static_cast<int>(out_.blocks.size()));
      out_.blocks.push_back({.bytes = record.bytes,
                             .born = clock_.at(record.at_us * 1000),
                             .node = origins_.of(op.name, op.type).node,
                             .phase = memory_phase(phase)});
      uses_.push_back({.made_until = op.end});
    }
    return own;
  }

  // A tensor lies where one of the operands does, or in the op's allocation of that number.
  void write(const RanOp& op, const StepStatsOutput& output, const std::vector<int>& own) {
    Place& place = places_[output.slot == 0 ? std::string(op.name) : cat(op.name, ":", output.slot)];
    place = {.pointer = output.pointer};
    if (op.type == "ReadVariableOp" && !op.inputs.empty()) place.variable = variable_of(op.inputs[0]);
    if (output.pointer == 0 || !place.variable.empty()) return;
    for (const std::string_view input : op.inputs) {
      const auto from = places_.find(input);
      if (from == places_.end() || from->second.pointer != output.pointer) continue;
      place = from->second;
      return;
    }
    const auto number = static_cast<size_t>(output.allocation);
    if (!is_ours(output.allocator) || number == 0 || number > own.size() ||
        block(own[number - 1]).bytes < output.requested)
      return;
    place.block = own[number - 1];
    use(place.block).is_tensor = true;
  }

  void release(const RanOp& op, const std::vector<int>& own) { pending_.push_back({&op, own}); }

  // What an update leaves in place of a variable's value: its operands are the resources, the weight's first.
  void replace(const RanOp& op, const std::vector<int>& own) {
    size_t operand = 0;
    for (const int index : own)
      if (!use(index).is_tensor && operand < op.inputs.size()) updated_[index] = variable_of(op.inputs[operand++]);
  }

  void match(const RanOp& op, const std::vector<int>& own);
  MemoryClass class_of(const RunBlock& block, const Use& use) const;

  const OpOrigins& origins_;
  const OwnClock& clock_;
  bool of_gpu_;
  RunBlocks out_;
  std::vector<Use> uses_;
  std::map<std::string, Place, std::less<>> places_;
  std::map<int, std::string> updated_;
  std::vector<std::pair<const RanOp*, std::vector<int>>> pending_;  // releases, matched when all readers are known
};

// Of the op's blocks of a released size, within the op that which is no tensor, then that which was read last the
// longest ago; a variable keeps what it was given.
void Reading::match(const RanOp& op, const std::vector<int>& own) {
  for (const StepStatsAllocation& record : op.stats.allocations) {
    if (record.bytes >= 0 || !is_ours(record.allocator)) continue;
    const int64_t when = clock_.at(record.at_us * 1000);
    int best = -1;
    const auto rank = [&](int index) {
      return std::tuple(!block(index).variable.empty(), use(index).is_tensor, use(index).last_read);
    };
    for (const int index : own)
      if (!block(index).freed && block(index).bytes == -record.bytes && (best < 0 || rank(index) < rank(best)))
        best = index;
    if (best < 0)
      ++out_.unmatched;
    else
      block(best).freed = std::max(when, block(best).born);
  }
}

MemoryClass Reading::class_of(const RunBlock& block, const Use& use) const {
  constexpr int64_t kMicrosecond = 1000;  // by which releases are stamped
  const bool in_op = block.freed && *block.freed <= use.made_until + kMicrosecond;
  if (!use.is_tensor && in_op) return MemoryClass::workspace;
  if (block.phase == MemoryPhase::forward && use.read_by_backward) return MemoryClass::feature_map;
  if (block.phase != MemoryPhase::backward) return MemoryClass::temporary;
  return use.read_by_update ? MemoryClass::weight_grad : MemoryClass::activation_grad;
}

RunBlocks Reading::finish() {
  for (const auto& [op, own] : pending_) match(*op, own);
  for (size_t i = 0; i < out_.blocks.size(); ++i) {
    RunBlock& each = out_.blocks[i];
    if (const auto found = updated_.find(static_cast<int>(i)); found != updated_.end() && !each.freed)
      each.variable = found->second;
    each.kind = class_of(each, uses_[i]);
  }
  std::ranges::stable_sort(out_.blocks, {}, &RunBlock::born);
  return std::move(out_);
}

}  // namespace

RunBlocks blocks_of(const RanOps& ran, const OpOrigins& origins, const OwnClock& clock, Blocks where) {
  Reading reading(origins, clock, where);
  for (const RanOp& op : ran.ops) reading.add(op);
  return reading.finish();
}

}  // namespace tbd::tensorflow
