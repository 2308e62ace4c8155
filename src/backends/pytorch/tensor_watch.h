// Which blocks tensors lie in, for what the allocator of a device hands out: cuBLAS, cuDNN and kernels take their
// scratch from it, too, and what they take becomes no tensor.
#pragma once
#include <cstdint>

#include "measure/memory_ledger.h"

namespace tbd::pytorch {

// While it lives, the ledger is shown every tensor that an op of torch takes or gives, those inside of ops included, on
// all threads. One at a time.
class TensorWatch {
 public:
  explicit TensorWatch(MemoryLedger& ledger);
  ~TensorWatch();
  TensorWatch(const TensorWatch&) = delete;
  TensorWatch& operator=(const TensorWatch&) = delete;

 private:
  uint64_t callback_;  // at::CallbackHandle
};

}  // namespace tbd::pytorch
