#include "backends/tensorflow/memory_pass.h"

#include <algorithm>
#include <utility>

#include "backends/tensorflow/onednn.h"
#include "base/text.h"

namespace tbd::tensorflow {
namespace {

// TensorFlow's allocators round to whole multiples, and may give more; the CPU's hands smaller blocks to malloc, all
// blocks where oneDNN is off, and counts those nowhere.
constexpr int64_t kCounted = 256 * 1024, kMultiple = 256;

constexpr std::string_view kOfHost =
    " Not seen: constants, what kernels keep from step to step, oneDNN's own memory. With oneDNN the allocator rounds "
    "blocks of 256 KiB and more and counts no others; without, it counts none.";
constexpr std::string_view kOfGpu =
    " Not seen: constants, what kernels keep from step to step, memory that CUDA's libraries take for themselves. The "
    "allocator rounds blocks to 256 B; inputs are told as they lie on the host, whose copies last as long as the run.";

}  // namespace

bool MemoryPass::by_malloc(int64_t bytes) const {
  return where_ == Blocks::of_host && (bytes < kCounted || !uses_onednn().value_or(true));
}

int64_t MemoryPass::held(int64_t bytes) const {
  return by_malloc(bytes) ? bytes : (bytes + kMultiple - 1) / kMultiple * kMultiple;
}

int64_t MemoryPass::counted(int64_t bytes) const { return by_malloc(bytes) ? 0 : held(bytes); }

MemoryLedger::Handle MemoryPass::take(int64_t bytes, MemoryClass kind) {
  const auto handle = reinterpret_cast<MemoryLedger::Handle>(++handles_);
  ledger_.allocated(handle, bytes, held(bytes));
  ledger_.classify(handle, kind);
  return handle;
}

void MemoryPass::own(const std::vector<Weights::Owned>& variables) {
  for (const Weights::Owned& each : variables)
    variables_[each.handle] = {take(each.bytes, each.kind), each.bytes, each.kind};
  say();
}

void MemoryPass::stage(const std::vector<int64_t>& bytes) {
  ledger_.enter(MemoryPhase::input);
  for (const MemoryLedger::Handle handle : inputs_) ledger_.freed(handle);
  inputs_.clear();
  large_owned_ = 0;
  for (const int64_t each : bytes) {
    inputs_.push_back(take(each, MemoryClass::input));
    large_owned_ += counted(each);
  }
  for (const auto& [name, variable] : variables_) large_owned_ += counted(variable.bytes);
}

void MemoryPass::add(const RunRecord& run, int64_t step) {
  const OwnClock clock(run);
  const RanOps ran = ran_ops(run, clock);
  ops_without_time_ += ran.without_time;
  const RunBlocks blocks = blocks_of(ran, origins_, clock, where_);
  unmatched_ += blocks.unmatched;
  ledger_.at(run.before.own_ns);
  ledger_.begin_step(step);
  ledger_.enter(MemoryPhase::forward);
  replay(blocks, run);
  ledger_.at(std::nullopt);
  compare(blocks);
  say();
}

bool MemoryPass::is_value(const RunBlock& block) const {
  const auto found = block.freed ? variables_.end() : variables_.find(block.variable);
  return found != variables_.end() && found->second.bytes == block.bytes;
}

// In the order of their times, which are the run's. Of one time, releases come first, but for those of blocks born
// then. The old value of a variable goes when the new one has come and its own readers are through.
std::vector<MemoryPass::Event> MemoryPass::events_of(const RunBlocks& blocks, const RunRecord& run) {
  const auto inside = [&](int64_t when) { return std::clamp(when, run.before.own_ns, run.after.own_ns); };
  std::vector<Event> events;
  for (size_t i = 0; i < blocks.blocks.size(); ++i) {
    const RunBlock& block = blocks.blocks[i];
    const int64_t born = inside(block.born);
    events.push_back({born, 1, i, Event::What::comes});
    if (is_value(block)) {
      const auto read = blocks.last_reads.find(block.variable);
      const int64_t gone = read == blocks.last_reads.end() ? born : std::max(born, inside(read->second));
      events.push_back({gone, 2, i, Event::What::replaces});
      continue;
    }
    const int64_t freed = block.freed ? inside(*block.freed) : run.after.own_ns;
    events.push_back({freed, freed == born ? 2 : 0, i, Event::What::goes});
    if (!block.freed) left_ += block.bytes;
  }
  std::ranges::stable_sort(events, {}, [](const Event& event) { return std::pair(event.when, event.order); });
  return events;
}

void MemoryPass::replay(const RunBlocks& blocks, const RunRecord& run) {
  std::vector<MemoryLedger::Handle> handles(blocks.blocks.size());
  MemoryPhase phase = MemoryPhase::forward;
  for (const Event& event : events_of(blocks, run)) {
    const RunBlock& block = blocks.blocks[event.block];
    ledger_.at(event.when);
    if (event.what == Event::What::goes) {
      ledger_.freed(handles[event.block]);
    } else if (event.what == Event::What::replaces) {
      ledger_.freed(std::exchange(variables_.at(block.variable).handle, handles[event.block]));
    } else {
      if (block.phase != phase) ledger_.enter(phase = block.phase);
      ledger_.execute(block.node);
      handles[event.block] = take(block.bytes, is_value(block) ? variables_.at(block.variable).kind : block.kind);
    }
  }
  ledger_.at(run.after.own_ns);
}

void MemoryPass::compare(const RunBlocks& blocks) {
  if (blocks.counted <= counted_) return;
  counted_ = blocks.counted;
  told_ = large_owned_;
  for (const RunBlock& block : blocks.blocks) {
    const bool is_live = block.born <= blocks.counted_at && (!block.freed || *block.freed > blocks.counted_at);
    if (is_live && !is_value(block)) told_ += counted(block.bytes);
  }
}

void MemoryPass::say() {
  std::string note =
      "Variables, optimizer slots and inputs are as the program has them. All else is what TensorFlow recorded of each "
      "op's allocations, by the microsecond: their classes are those of the ops that made them and read them.";
  note += where_ == Blocks::of_gpu ? kOfGpu : kOfHost;
  if (counted_ > 0)
    note += cat(" Where its own count was largest it held ", counted_, " B, of which ", told_, " B are told here.");
  if (compiled_) note += " What a compiled cluster takes inside its run is not recorded.";
  if (left_ > 0) note += cat(" Of ", left_, " B no release was recorded: they end with their run.");
  if (unmatched_ > 0) note += cat(" ", unmatched_, " releases fit no allocation.");
  if (ops_without_time_ > 0) note += cat(" ", ops_without_time_, " ops had no time.");
  ledger_.evidence(MemoryEvidence::partial, note);
}

}  // namespace tbd::tensorflow
