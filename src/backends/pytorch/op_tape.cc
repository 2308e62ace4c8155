#include "backends/pytorch/op_tape.h"

#include <unistd.h>

#include "backends/pytorch/op_signature.h"
#include "measure/clock.h"

namespace tbd::pytorch {
namespace {
constexpr size_t kRecordsAtFirst = 1 << 16;
}

OpTape::OpTape() : thread_(gettid()), torch_thread_(at::RecordFunction::currentThreadId()) {
  records_.reserve(kRecordsAtFirst);
}

uint32_t OpTape::interned(std::string_view bytes) {
  if (const auto known = ids_.find(bytes); known != ids_.end()) return known->second;
  const auto added = ids_.emplace(bytes, static_cast<uint32_t>(signatures_.size())).first;
  signatures_.push_back(&added->first);
  return added->second;
}

// The clock is read last, so that an op's own time has nothing of this.
void OpTape::open(OpRecord record, const at::RecordFunction& function) {
  scratch_.clear();
  write_signature(function, scratch_);
  record.signature = interned({scratch_.data(), scratch_.size()});
  open_.push_back(records_.size());
  records_.push_back(record);
  records_.back().begin = now_ns();
}

void OpTape::close(int64_t end) {
  if (open_.empty()) return;
  records_[open_.back()].end = end;
  open_.pop_back();
}

OpRecord* OpTape::innermost() { return open_.empty() ? nullptr : &records_[open_.back()]; }

void OpTape::clear() { records_.clear(), open_.clear(); }

}  // namespace tbd::pytorch
