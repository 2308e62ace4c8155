#include "measure/gpu/cuda_driver.h"

#include <dlfcn.h>

#include "base/text.h"

namespace tbd {
namespace {

// The driver's ABI (CUDA Driver API, sections Initialization, Device Management, Error Handling): CUresult is an int.
using Init = int (*)(unsigned flags);
using DeviceCount = int (*)(int* count);
using ErrorText = int (*)(int code, const char** text);

template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string failed(void* library, const char* call, int code) {
  const char* text = nullptr;
  const auto explain = function<ErrorText>(library, "cuGetErrorString");
  if (explain) explain(code, &text);
  return cat(text ? text : "an unknown error", " (", call, ": ", code, ")");
}

}  // namespace

CudaDevices cuda_devices(const std::string& library) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) return {.reason = cat(library, " is not there")};
  const auto init = function<Init>(loaded, "cuInit");
  const auto count_devices = function<DeviceCount>(loaded, "cuDeviceGetCount");
  if (!init || !count_devices) return {.reason = cat(library, " is no CUDA driver")};
  if (const int code = init(0)) return {.reason = failed(loaded, "cuInit", code)};
  int count = 0;
  if (const int code = count_devices(&count)) return {.reason = failed(loaded, "cuDeviceGetCount", code)};
  return {.count = count, .reason = count == 0 ? "the driver shows no device" : ""};
}

}  // namespace tbd
