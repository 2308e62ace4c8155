#include "trace/import/read_ahead.h"

#include <algorithm>
#include <cstring>

namespace tbd {
namespace {

constexpr size_t kBlock = 256 << 10;

// Fills `block` unless the source ends; false when nothing came.
bool fill(ByteSource& in, std::string& block) {
  block.resize(kBlock);
  size_t have = 0;
  while (have < kBlock) {
    const size_t got = in.read(block.data() + have, kBlock - have);
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

void ReadAhead::run() {
  std::string block;
  std::exception_ptr error;
  for (bool more = true; more;) {
    try {
      more = fill(*in_, block);
    } catch (...) {
      error = std::current_exception();
      more = false;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_ready_ || stop_; });
    if (stop_) return;
    if (more) {
      ready_.swap(block);
      is_ready_ = true;
    } else {
      ended_ = true;
      error_ = error;
      damage_ = in_->damage();
    }
    changed_.notify_all();
  }
}

size_t ReadAhead::read(char* to, size_t size) {
  if (at_ == taken_.size()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_ready_ || ended_; });
    if (!is_ready_) {
      if (error_) std::rethrow_exception(error_);
      return 0;
    }
    taken_.swap(ready_);
    is_ready_ = false;
    at_ = 0;
    changed_.notify_all();
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
