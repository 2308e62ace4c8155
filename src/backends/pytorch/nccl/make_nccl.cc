// The whole of libtbd-nccl.so (backends/pytorch/nccl_library.h).
#include <chrono>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "backends/pytorch/nccl_library.h"

extern "C" __attribute__((visibility("default"))) void tbd_make_nccl(const void* store, int rank, int size,
                                                                     int64_t timeout_ms, void* backend) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = std::chrono::milliseconds(timeout_ms);
  *static_cast<c10::intrusive_ptr<c10d::Backend>*>(backend) = c10::make_intrusive<c10d::ProcessGroupNCCL>(
      *static_cast<const c10::intrusive_ptr<c10d::Store>*>(store), rank, size, std::move(options));
}

static_assert(std::is_same_v<decltype(&tbd_make_nccl), tbd::pytorch::MakeNccl>);
