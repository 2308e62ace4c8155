#include "analysis/memory/study.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/error.h"

namespace tbd {
namespace {

constexpr size_t kLargest = 20;

// Runs through the events in their order.
class Replay {
 public:
  explicit Replay(const MemoryLog& log) : log_(log), of_event_(log.event_ns.size()) {
    for (uint32_t block = 0; block < log.blocks.size(); ++block) {
      of_event_[log.blocks[block].born] = block;
      if (log.blocks[block].freed != kNeverFreed) of_event_[log.blocks[block].freed] = block;
    }
  }
  uint32_t next() const { return next_; }  // event
  bool done() const { return next_ == of_event_.size(); }
  const MemorySnapshot& now() const { return now_; }
  int64_t total() const { return total_; }

  void advance() {
    const MemoryBlock& block = log_.blocks[of_event_[next_]];
    const int64_t sign = block.born == next_ ? 1 : -1;
    now_.requested[static_cast<size_t>(block.kind)] += sign * block.requested;
    now_.held += sign * block.held;
    total_ += sign * block.requested;
    while (mark_ < log_.marks.size() && log_.marks[mark_].event <= next_) {
      now_.step = log_.marks[mark_].step;
      now_.phase = log_.marks[mark_].phase;
      ++mark_;
    }
    now_.event = next_;
    now_.time_ns = log_.event_ns[next_];
    ++next_;
  }

 private:
  const MemoryLog& log_;
  std::vector<uint32_t> of_event_;
  MemorySnapshot now_;
  int64_t total_ = 0;
  uint32_t next_ = 0;
  size_t mark_ = 0;
};

struct StepEvents {
  int64_t step;
  uint32_t begin, end;
};

// Marks of steps from 1 on, those of one step together.
std::vector<StepEvents> steps_of(const MemoryLog& log) {
  std::vector<StepEvents> steps;
  const auto end = static_cast<uint32_t>(log.event_ns.size());
  for (const MemoryMark& mark : log.marks) {
    if (!steps.empty() && steps.back().step == mark.step) continue;
    if (!steps.empty()) steps.back().end = mark.event;
    steps.push_back({mark.step, mark.event, end});
  }
  std::erase_if(steps, [](const StepEvents& s) { return s.step < 1; });
  return steps;
}

bool lives_at(const MemoryBlock& block, uint32_t event) { return block.born <= event && event < block.freed; }

void look_at_peak(const MemoryLog& log, MemoryStudy& study) {
  std::map<int32_t, MemoryOfNode> nodes;
  for (uint32_t b = 0; b < log.blocks.size(); ++b) {
    const MemoryBlock& block = log.blocks[b];
    if (!lives_at(block, study.peak.event)) continue;
    MemoryOfNode& node = nodes.try_emplace(block.node, MemoryOfNode{.node = block.node}).first->second;
    node.requested[static_cast<size_t>(block.kind)] += block.requested;
    study.largest.push_back(b);
  }
  for (const auto& [id, node] : nodes) study.by_node.push_back(node);
  std::ranges::stable_sort(study.by_node, std::greater{}, [](const MemoryOfNode& n) { return sum(n.requested); });
  std::ranges::stable_sort(study.largest, std::greater{}, [&](uint32_t b) { return log.blocks[b].requested; });
  study.largest.resize(std::min(study.largest.size(), kLargest));
}

}  // namespace

int64_t sum(const MemoryBytes& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

std::optional<int64_t> MemoryStudy::growth_since(int64_t from) const {
  const auto first = std::ranges::find(after_steps, from, &MemorySnapshot::step);
  if (first == after_steps.end() || first + 1 == after_steps.end()) return std::nullopt;
  return sum(after_steps.back().requested) - sum(first->requested);
}

MemoryStudy study_memory(const MemoryLog& log) {
  require(!log.event_ns.empty(), "no memory was allocated while it was watched");
  MemoryStudy study;
  const std::vector<StepEvents> steps = steps_of(log);
  auto step = steps.begin();
  int64_t most = -1;
  for (Replay replay(log); !replay.done();) {
    replay.advance();
    const MemorySnapshot& now = replay.now();
    if (replay.total() > most) {
      most = replay.total();
      study.peak = now;
    }
    study.held_peak = std::max(study.held_peak, now.held);
    for (size_t c = 0; c < kMemoryClasses; ++c) study.class_peaks[c] = std::max(study.class_peaks[c], now.requested[c]);
    for (; step != steps.end() && replay.next() == step->end; ++step) study.after_steps.push_back(now);
  }
  look_at_peak(log, study);
  return study;
}

std::vector<MemorySnapshot> memory_over_step(const MemoryLog& log, int64_t step, size_t points) {
  const std::vector<StepEvents> steps = steps_of(log);
  const auto found = std::ranges::find(steps, step, &StepEvents::step);
  std::vector<MemorySnapshot> parts;
  if (found == steps.end() || found->begin == found->end || points == 0) return parts;
  Replay replay(log);
  while (replay.next() < found->begin) replay.advance();
  const uint64_t events = found->end - found->begin;
  int64_t most = -1;
  size_t part = 0;
  for (uint64_t e = 0; e < events; ++e) {
    replay.advance();
    const size_t now_in = e * points / events;
    if (now_in != part || parts.empty()) {
      parts.push_back(replay.now());
      most = replay.total();
      part = now_in;
    }
    if (replay.total() > most) {
      parts.back() = replay.now();
      most = replay.total();
    }
  }
  return parts;
}

}  // namespace tbd
