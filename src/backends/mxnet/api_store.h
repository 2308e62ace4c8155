// MXNet's key-value store over ps-lite through the C API: what a rank pushes under a key, servers add up with what all
// others pushed, and every rank gets the sum. A process takes part once, in one role.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "backends/mxnet/api.h"

namespace tbd::mxnet {

struct StorePlace {
  std::string role;       // "worker", "server", or "scheduler", at which all meet
  std::string scheduler;  // its host, as the others reach it
  int64_t port = 0;       // on which the scheduler listens
  int64_t ranks = 0;      // as many workers as servers
  std::string host;       // at which this process listens
};

// A sum as MXNet's profiler names it: from when the array is ready to when the sum is in it.
inline constexpr const char* kStoreSum = "KVStoreDistDefaultStoragePushPull";

class KeyValueStore {
 public:
  // Of the process's one place. A worker waits until all workers, servers and the scheduler are there, for ever.
  explicit KeyValueStore(const StorePlace& place);
  // Of a server or the scheduler. Returns when every worker has freed its store.
  void serve();
  // Of workers: all declare the same keys in the same order, and wait for each other.
  void declare(std::span<const int> keys, std::span<const Array> arrays);
  // Queues the replacement of the array by its sum over all workers. Of higher priority first.
  void sum(int key, const Array& array, int priority);

 private:
  std::shared_ptr<void> handle_;  // freed together with the other workers', for which it waits
};

}  // namespace tbd::mxnet
