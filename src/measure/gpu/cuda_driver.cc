#include "measure/gpu/cuda_driver.h"

#include "measure/gpu/cuda_abi.h"

namespace tbd {
namespace {

constexpr CudaFunction<unsigned> kCuInit{"cuInit"};
constexpr CudaFunction<int*> kCuDeviceCount{"cuDeviceGetCount"};
constexpr CudaFunction<cuda::Device*, int> kCuDevice{"cuDeviceGet"};
constexpr CudaFunction<int*, int, cuda::Device> kCuAttribute{"cuDeviceGetAttribute"};
constexpr CudaFunction<size_t*, cuda::Device> kCuTotalMemory{"cuDeviceTotalMem_v2"};
constexpr CudaFunction<cuda::Uuid*, cuda::Device> kCuUuid{"cuDeviceGetUuid"};

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

std::string cuda_uuid(const CudaFunctions& driver, int device) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  cuda::Uuid uuid{};
  driver.call(kCuUuid, &uuid, device);
  std::string text = "GPU-";
  for (size_t i = 0; i < std::size(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid.bytes[i] >> 4];
    text += kDigits[uuid.bytes[i] & 15];
  }
  return text;
}

CudaBuild cuda_build(int64_t index, const std::string& library) {
  const CudaFunctions driver = cuda_driver(library);
  cuda::Device device = 0;
  int major = 0, minor = 0;
  size_t bytes = 0;
  driver.call(kCuDevice, &device, static_cast<int>(index));
  driver.call(kCuAttribute, &major, cuda::kCapabilityMajor, device);
  driver.call(kCuAttribute, &minor, cuda::kCapabilityMinor, device);
  driver.call(kCuTotalMemory, &bytes, device);
  return {
      .capability = 10 * major + minor, .memory_bytes = static_cast<int64_t>(bytes), .uuid = cuda_uuid(driver, device)};
}

}  // namespace tbd
