#include "backends/mlx/blas.h"

#include <dlfcn.h>

namespace tbd::mlx {
namespace {

// A function of OpenBLAS's own, in whichever library of the process; null where none has it.
template <class Function>
Function openblas(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string linked_blas() {
  const auto config = openblas<char* (*)()>("openblas_get_config");
  return config ? config() : "reference";
}

void use_blas_threads(int64_t threads) {
  if (const auto set = openblas<void (*)(int)>("openblas_set_num_threads")) set(static_cast<int>(threads));
}

}  // namespace tbd::mlx
