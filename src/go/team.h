// Threads that share the work of a loop, again and again.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tbd::go {

class Team {
 public:
  explicit Team(int threads);  // at least 1: the caller's own
  ~Team();

  // work(i) for each i below `count`, by whichever thread is free. Returns when all are done; throws what the first of
  // them that failed has thrown.
  void for_each(size_t count, const std::function<void(size_t)>& work);

 private:
  void serve();
  void take_turns(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void(size_t)>* work_ = nullptr;
  size_t count_ = 0, next_ = 0, running_ = 0;
  uint64_t round_ = 0;
  bool closing_ = false;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace tbd::go
