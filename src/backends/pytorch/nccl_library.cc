#include "backends/pytorch/nccl_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "backends/pytorch/cuda_library.h"
#include "base/error.h"

namespace tbd::pytorch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libtbd-nccl.so";

fs::path library() { return fs::read_symlink("/proc/self/exe").parent_path() / kLibrary; }

}  // namespace

std::string why_no_nccl() {
  if (usable_gpus() == 0) return "no GPU that this worker can use answers";
  if (fs::exists(library())) return "";
  return cat("there is no ", kLibrary, " beside this worker: where headers of CUDA and NCCL are found one is built ",
             "(docs/gpu.md)");
}

MakeNccl load_nccl() {
  static MakeNccl made = nullptr;
  if (made) return made;
  if (const std::string why = why_no_nccl(); !why.empty())
    fail(ErrorKind::unsupported, "ranks on GPUs sum by NCCL, and ", why);
  load_cuda_library();
  void* loaded = dlopen(library().c_str(), RTLD_NOW);
  if (!loaded) fail(ErrorKind::unsupported, kLibrary, " cannot be loaded: ", dlerror());
  made = reinterpret_cast<MakeNccl>(dlsym(loaded, kMakeNccl));
  if (!made) fail(ErrorKind::unsupported, kLibrary, " has no ", kMakeNccl, ": it is of another build");
  return made;
}

}  // namespace tbd::pytorch
