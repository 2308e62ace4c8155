#include "measure/gpu/cuda_functions.h"

namespace tbd {

CudaFunctions::CudaFunctions(const std::string& library, const char* landmark, std::string_view kind, Explain explain)
    : library_(library), explain_(explain) {
  if (!library_.reason().empty()) fail(ErrorKind::unsupported, library_.reason());
  if (!library_.function<void (*)()>(landmark)) fail(ErrorKind::unsupported, library, " is no ", kind);
}

std::string CudaFunctions::words(int code) const {
  const std::string known = explain_(library_, code);
  return known.empty() ? "an unknown error" : known;
}

void CudaFunctions::fail_with(const char* function, int code) const {
  fail(ErrorKind::io, words(code), " (", function, ": ", code, ")");
}

}  // namespace tbd
