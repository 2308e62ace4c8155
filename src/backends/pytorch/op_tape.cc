#include "backends/pytorch/op_tape.h"

#include <ATen/record_function.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>

#include "backends/pytorch/op_signature.h"
#include "measure/clock.h"

namespace tbd::pytorch {
namespace {
constexpr size_t kRecordsAtFirst = 1 << 16;
constexpr size_t kArenaChunk = 1 << 16;  // bytes
}  // namespace

OpTape::OpTape()
    : thread_(gettid()),
      half_handle_(static_cast<uint32_t>(pthread_self())),
      torch_thread_(at::RecordFunction::currentThreadId()) {
  records_.reserve(kRecordsAtFirst);
}

bool OpTape::is_thread(int64_t number) const {
  return number == thread_ || static_cast<uint32_t>(number) == half_handle_;
}

std::string_view OpTape::Arena::keep(std::string_view bytes) {
  if (bytes.size() > left_) {
    left_ = std::max(kArenaChunk, bytes.size());
    next_ = chunks_.emplace_back(std::make_unique_for_overwrite<char[]>(left_)).get();
  }
  const std::string_view kept(next_, bytes.copy(next_, bytes.size()));
  next_ += kept.size();
  left_ -= kept.size();
  return kept;
}

uint32_t OpTape::interned(std::string_view bytes) {
  if (const auto known = ids_.find(bytes); known != ids_.end()) return known->second;
  const auto id = static_cast<uint32_t>(signatures_.size());
  signatures_.push_back(arena_.keep(bytes));
  return ids_[signatures_.back()] = id;
}

uint32_t OpTape::expected_or_interned(std::string_view bytes) {
  if (place_ == expected_.size()) expected_.push_back(interned(bytes));
  uint32_t& id = expected_[place_++];
  if (signatures_[id] != bytes) id = interned(bytes);
  return id;
}

// The clock is read last, so that an op's own time has nothing of this.
void OpTape::open(OpRecord record, const at::RecordFunction& function) {
  scratch_.clear();
  write_signature(function, scratch_);
  record.signature = expected_or_interned({scratch_.data(), scratch_.size()});
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

void OpTape::clear() {
  records_.clear();
  open_.clear();
}

}  // namespace tbd::pytorch
