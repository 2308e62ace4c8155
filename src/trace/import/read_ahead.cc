#include "trace/import/read_ahead.h"

#include <algorithm>
#include <cstring>

namespace tbd {
namespace {

constexpr size_t kReadBlock = 256 << 10;
constexpr size_t kAhead = 6;  // blocks: what parsing takes at once, and some

// Fills `block` unless the source ends; false when nothing came.
bool fill(ByteSource& in, std::string& block) {
  block.resize(kReadBlock);
  size_t have = 0;
  while (have < kReadBlock) {
    const size_t got = in.read(block.data() + have, kReadBlock - have);
    if (got == 0) break;
    have += got;
  }
  block.resize(have);
  return have > 0;
}

}  // namespace

ReadAhead::ReadAhead(std::unique_ptr<ByteSource> in) : in_(std::move(in)), thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool ReadAhead::hand_over(std::string& block) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_.size() < kAhead || stop_; });
  ready_.push_back(std::move(block));
  block.clear();
  if (!empty_.empty()) {
    block = std::move(empty_.back());
    empty_.pop_back();
  }
  if (ready_.size() == 1) changed_.notify_all();
  return !stop_;
}

void ReadAhead::run() {
  std::exception_ptr error;
  try {
    std::string block;
    while (fill(*in_, block) && hand_over(block)) {
    }
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  error_ = error;
  damage_ = in_->damage();
  changed_.notify_all();
}

size_t ReadAhead::read(char* to, size_t size) {
  if (at_ == taken_.size()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return 0;
    }
    empty_.push_back(std::move(taken_));
    taken_ = std::move(ready_.front());
    ready_.pop_front();
    at_ = 0;
    if (ready_.size() == kAhead / 2) changed_.notify_all();
  }
  size = std::min(size, taken_.size() - at_);
  std::memcpy(to, taken_.data() + at_, size);
  at_ += size;
  return size;
}

std::string ReadAhead::damage() const {
  const std::lock_guard lock(mutex_);
  return damage_;
}

}  // namespace tbd
