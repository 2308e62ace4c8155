#include "backends/pytorch/cuda_library.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

#include "measure/gpu/cuda_driver.h"

namespace tbd::pytorch {
namespace {

namespace fs = std::filesystem;

int note_torch(dl_phdr_info* object, size_t, void* found) {
  const std::string_view path = object->dlpi_name;
  if (!path.ends_with("/libtorch_cpu.so")) return 0;
  *static_cast<fs::path*>(found) = path;
  return 1;
}

}  // namespace

fs::path cuda_library_of(const fs::path& libtorch_cpu) {
  constexpr const char* kName = "libtorch_cuda.so";
  const fs::path beside = libtorch_cpu.parent_path() / kName;
  if (fs::exists(beside)) return beside;
  const fs::path root = libtorch_cpu.parent_path().parent_path().parent_path();
  const fs::path apart = fs::path(root.string() + "-cuda") / "torch/lib" / kName;
  return !root.empty() && fs::exists(apart) ? apart : fs::path();
}

fs::path cuda_library() {
  fs::path torch;
  dl_iterate_phdr(note_torch, &torch);
  return torch.empty() ? fs::path() : cuda_library_of(torch);
}

int64_t usable_gpus() {
  static const int64_t count = cuda_library().empty() ? 0 : cuda_devices().count;
  return count;
}

void load_cuda_library() {
  static const void* loaded = nullptr;
  if (loaded) return;
  const fs::path library = cuda_library();
  if (library.empty())
    fail(ErrorKind::unsupported,
         "this torch has no CUDA: libtorch_cuda.so is neither beside libtorch_cpu.so nor in the ",
         "folder that the set-up makes for GPUs");
  loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!loaded) fail(ErrorKind::unsupported, "libtorch_cuda.so cannot be loaded: ", dlerror());
}

}  // namespace tbd::pytorch
