// torch's own process group over NCCL, for ranks that train on GPUs. Its header needs those of CUDA and NCCL, so it is
// a library of its own beside the worker, built where these are at hand (cmake/Nccl.cmake) and loaded by a rank that
// asks for it. It has been compiled and never run: no machine with two GPUs was at hand.
#pragma once
#include <cstdint>
#include <string>

namespace tbd::pytorch {

// Why ranks on GPUs cannot sum here, one clause: no GPU answers, or the library is missing. Empty: they can.
std::string why_no_nccl();

// What the library exports: puts a group of this rank into `backend`, which is empty. `store`: of
// c10::intrusive_ptr<c10d::Store>; `backend`: of c10::intrusive_ptr<c10d::Backend>. torch's headers take seconds.
using MakeNccl = void (*)(const void* store, int rank, int size, int64_t timeout_ms, void* backend);
inline constexpr const char* kMakeNccl = "tbd_make_nccl";
// Loads it, once, and CUDA's half of torch with it. Throws Error(unsupported) where why_no_nccl() has a reason, or it
// cannot be loaded.
MakeNccl load_nccl();

}  // namespace tbd::pytorch
