// The functions of a library of CUDA by their names and the types of their parameters: each is looked up when it is
// called, and a code that is not 0 becomes an Error.
#pragma once
#include <string>
#include <type_traits>

#include "base/error.h"
#include "measure/gpu/shared_library.h"

namespace tbd {

template <class... Parameters>
struct CudaFunction {
  const char* name;
};

class CudaFunctions {
 public:
  // `explain` gives the words for a code; it may have none. Throws Error(unsupported) where the library cannot be
  // loaded or has no function `landmark`: "libm.so.6 is no CUDA driver".
  using Explain = std::string (*)(const SharedLibrary& library, int code);
  CudaFunctions(const std::string& library, const char* landmark, std::string_view kind, Explain explain);

  const std::string& library() const { return library_.name(); }
  // Throws Error(unsupported) where the library has no such function, Error(io) "out of memory (cuMemAlloc_v2: 2)".
  template <class... Parameters>
  void call(CudaFunction<Parameters...> function, std::type_identity_t<Parameters>... arguments) const {
    const int code = code_of(function, arguments...);
    if (code != 0) fail_with(function.name, code);
  }
  // The same for those whose code the caller judges.
  template <class... Parameters>
  int code_of(CudaFunction<Parameters...> function, std::type_identity_t<Parameters>... arguments) const {
    const auto found = library_.function<int (*)(Parameters...)>(function.name);
    if (!found) fail(ErrorKind::unsupported, library_.name(), " has no ", function.name);
    return found(arguments...);
  }
  std::string words(int code) const;

 private:
  [[noreturn]] void fail_with(const char* function, int code) const;

  SharedLibrary library_;
  Explain explain_;
};

}  // namespace tbd
