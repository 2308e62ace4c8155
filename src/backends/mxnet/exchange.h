// Sums over the ranks of a world by MXNet's own engine, its key-value store over ps-lite: beside each rank runs a
// server, which adds up the shares of some keys, and beside rank 0 the scheduler, at which all of them meet. Both are
// processes of this program, with arguments.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/mxnet/api.h"
#include "worker/place.h"

namespace tbd::mxnet {

// Gradients of one phase.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;
  // Queues, behind what makes each gradient, its replacement by the sum over all ranks.
  virtual void sum() = 0;
};

// A key-value store ends no wait by itself. Where a server, the scheduler, or another rank within a wait is missing,
// the process ends and says so on stderr: MXNet's calls cannot be broken off.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void sum(std::span<double> values) = 0;
  // All ranks in the same order.
  virtual std::unique_ptr<GradientExchange> of_gradients(std::span<const Array> gradients) = 0;
  // One sum of an array of that many bytes, when it is called (Session::exchange_of).
  virtual std::function<void()> of_bytes(DType dtype, int64_t bytes) = 0;
  // Does work that may wait for other ranks, up to the world's timeout.
  virtual void wait(const std::function<void()>& work) = 0;
};

// The same of one rank alone, which waits for none: nullptr.
inline void wait_for_others(Exchange* exchange, const std::function<void()>& work) {
  if (exchange) return exchange->wait(work);
  work();
}

// Once in a process, on a thread that outlives the exchange: the servers end with it. Throws Error(io) where a rank
// does not come within the world's timeout, with kPortIsTaken where the scheduler cannot listen.
std::unique_ptr<Exchange> join_world(const World& world);
using JoinWorld = std::function<std::unique_ptr<Exchange>(const World&)>;

// What a process does that was started as a server or the scheduler: its exit code. Nothing where it was not.
std::optional<int> serve(std::span<char* const> arguments);

}  // namespace tbd::mxnet
