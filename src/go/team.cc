#include "go/team.h"

#include <utility>

#include "base/error.h"

namespace tbd::go {

Team::Team(int threads) {
  require(threads >= 1, "at least one thread works, got ", threads);
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Team::~Team() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  begun_.notify_all();
}

void Team::serve() {
  std::unique_lock lock(mutex_);
  for (uint64_t seen = 0;;) {
    begun_.wait(lock, [&] { return closing_ || round_ != seen; });
    if (closing_) return;
    seen = round_;
    take_turns(lock);
  }
}

void Team::take_turns(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const size_t index = next_++;
    ++running_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_)(index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (failure && !failure_) failure_ = failure;
  }
  if (running_ == 0) ended_.notify_all();
}

void Team::for_each(size_t count, const std::function<void(size_t)>& work) {
  if (threads_.empty()) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::unique_lock lock(mutex_);
  work_ = &work;
  count_ = count;
  next_ = 0;
  ++round_;
  begun_.notify_all();
  take_turns(lock);
  ended_.wait(lock, [&] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace tbd::go
