// Sums over the ranks of a world by torch's own engine: c10d over Gloo, on GPUs over NCCL (nccl_library.h), and DDP's
// Reducer for gradients. Only exchange.cc includes torch's headers of these.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "worker/place.h"

namespace at {
class Tensor;
}

namespace tbd::pytorch {

// Gradients of some parameters, summed bucket by bucket while backward still makes others.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;
  // Before the forward pass of the last micro-batch of an update, and before its backward pass. That returns when the
  // gradients are the sums over all ranks and all micro-batches.
  virtual void before_forward() = 0;
  virtual void before_backward() = 0;
};

// Told of a tensor that an exchange makes for itself, as soon as it is there and on any thread; empty: nobody listens.
using TellBuffer = std::function<void(const at::Tensor&)>;

class Exchange {
 public:
  virtual ~Exchange() = default;
  // From now on, and of gradients that are exchanged from then on. The buckets are not told: gradients lie in them.
  virtual void tell_buffers(TellBuffer) {}
  // What each rank said, by rank. All ranks call it with the same name, once.
  virtual std::vector<std::string> gather(const std::string& name, const std::string& own) = 0;
  virtual void sum(std::span<double> values) = 0;
  // One all-reduce of the values, in place, as a bucket of gradients is summed.
  virtual std::function<void()> of_values(const at::Tensor& values) = 0;
  // All ranks in the same order. Each parameter requires gradients and gets one in each backward pass. `owners`: of
  // each parameter the one rank whose gradient becomes the sum; what others then have means nothing. Empty: all ranks
  // do.
  virtual std::unique_ptr<GradientExchange> of_gradients(const std::vector<at::Tensor>& parameters,
                                                         const std::vector<int64_t>& owners) = 0;
  // Each tensor becomes what it is on its owner. Dense, laid out alike on all ranks.
  virtual void spread(const std::vector<at::Tensor>& tensors, const std::vector<int64_t>& owners) = 0;
  // Each tensor becomes its mean over the ranks. Dense, laid out alike on all ranks.
  virtual void average(const std::vector<at::Tensor>& tensors) = 0;
};

// Meets the other ranks. `on_gpu`: tensors to be summed lie there. Throws Error(io) where a rank does not come within
// the world's timeout, Error(unsupported) where GPUs cannot sum.
std::unique_ptr<Exchange> join(const World& world, bool on_gpu = false);
using Join = std::function<std::unique_ptr<Exchange>(const World&, bool on_gpu)>;

}  // namespace tbd::pytorch
