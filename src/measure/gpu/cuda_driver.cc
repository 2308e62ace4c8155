#include "measure/gpu/cuda_driver.h"

#include "base/text.h"
#include "measure/gpu/shared_library.h"

namespace tbd {
namespace {

// The driver's ABI (CUDA Driver API, sections Initialization, Device Management, Error Handling): CUresult is an int.
using Init = int (*)(unsigned flags);
using DeviceCount = int (*)(int* count);
using ErrorText = int (*)(int code, const char** text);

std::string failed(const SharedLibrary& driver, const char* call, int code) {
  const char* text = nullptr;
  const auto explain = driver.function<ErrorText>("cuGetErrorString");
  if (explain) explain(code, &text);
  return cat(text ? text : "an unknown error", " (", call, ": ", code, ")");
}

}  // namespace

CudaDevices cuda_devices(const std::string& library) {
  const SharedLibrary driver(library);
  if (!driver.reason().empty()) return {.reason = driver.reason()};
  const auto init = driver.function<Init>("cuInit");
  const auto count_devices = driver.function<DeviceCount>("cuDeviceGetCount");
  if (!init || !count_devices) return {.reason = cat(library, " is no CUDA driver")};
  if (const int code = init(0)) return {.reason = failed(driver, "cuInit", code)};
  int count = 0;
  if (const int code = count_devices(&count)) return {.reason = failed(driver, "cuDeviceGetCount", code)};
  return {.count = count, .reason = count == 0 ? "the driver shows no device" : ""};
}

}  // namespace tbd
