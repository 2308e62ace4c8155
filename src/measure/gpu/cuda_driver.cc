#include "measure/gpu/cuda_driver.h"

namespace tbd {
namespace {

constexpr CudaFunction<unsigned> kCuInit{"cuInit"};
constexpr CudaFunction<int*> kCuDeviceCount{"cuDeviceGetCount"};

std::string driver_words(const SharedLibrary& driver, int code) {
  const char* text = nullptr;
  const auto explain = driver.function<int (*)(int, const char**)>("cuGetErrorString");
  if (explain) explain(code, &text);
  return text ? text : "";
}

}  // namespace

CudaFunctions cuda_driver(const std::string& library) {
  CudaFunctions driver(library, kCuInit.name, "CUDA driver", driver_words);
  driver.call(kCuInit, 0);
  return driver;
}

CudaDevices cuda_devices(const std::string& library) try {
  int count = 0;
  cuda_driver(library).call(kCuDeviceCount, &count);
  return {.count = count, .reason = count == 0 ? "the driver shows no device" : ""};
} catch (const Error& e) {
  return {.reason = e.what()};
}

}  // namespace tbd
