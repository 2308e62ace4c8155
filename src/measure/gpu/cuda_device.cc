#include "measure/gpu/cuda_device.h"

#include <array>

namespace tbd {
namespace {

using cuda::Address;

constexpr CudaFunction<cuda::Device*, int> kCuDeviceGet{"cuDeviceGet"};
constexpr CudaFunction<char*, int, cuda::Device> kCuDeviceName{"cuDeviceGetName"};
constexpr CudaFunction<int*, int, cuda::Device> kCuDeviceAttribute{"cuDeviceGetAttribute"};
constexpr CudaFunction<int*> kCuDriverVersion{"cuDriverGetVersion"};
constexpr CudaFunction<cuda::Context*, cuda::Device> kCuContextRetain{"cuDevicePrimaryCtxRetain"};
constexpr CudaFunction<cuda::Device> kCuContextRelease{"cuDevicePrimaryCtxRelease_v2"};
constexpr CudaFunction<cuda::Context> kCuContextSetCurrent{"cuCtxSetCurrent"};
constexpr CudaFunction<size_t*, size_t*> kCuMemoryInfo{"cuMemGetInfo_v2"};
constexpr CudaFunction<Address*, size_t> kCuAllocate{"cuMemAlloc_v2"};
constexpr CudaFunction<Address> kCuFree{"cuMemFree_v2"};
constexpr CudaFunction<cuda::Module*, const void*> kCuModuleLoad{"cuModuleLoadData"};
constexpr CudaFunction<cuda::Module> kCuModuleUnload{"cuModuleUnload"};
constexpr CudaFunction<cuda::Function*, cuda::Module, const char*> kCuModuleFunction{"cuModuleGetFunction"};
constexpr CudaFunction<cuda::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       cuda::Stream, void**, void**>
    kCuLaunch{"cuLaunchKernel"};
constexpr CudaFunction<cuda::Stream> kCuSynchronize{"cuStreamSynchronize"};
constexpr CudaFunction<cuda::Event*, unsigned> kCuEventCreate{"cuEventCreate"};
constexpr CudaFunction<cuda::Event> kCuEventDestroy{"cuEventDestroy_v2"};
constexpr CudaFunction<cuda::Event, cuda::Stream> kCuEventRecord{"cuEventRecord"};
constexpr CudaFunction<float*, cuda::Event, cuda::Event> kCuEventElapsed{"cuEventElapsedTime"};

constexpr cuda::Stream kDefaultStream = nullptr;

}  // namespace

std::string capability_text(ComputeCapability capability) { return cat(capability / 10, ".", capability % 10); }

CudaDevice::CudaDevice(int64_t index, const std::string& library) : driver_(cuda_driver(library)) {
  driver_.call(kCuDeviceGet, &device_, static_cast<int>(index));
  facts_ = read_facts();
  cuda::Context context = nullptr;
  driver_.call(kCuContextRetain, &context, device_);
  try {
    driver_.call(kCuContextSetCurrent, context);
    driver_.call(kCuEventCreate, &begin_, 0);
    driver_.call(kCuEventCreate, &end_, 0);
  } catch (...) {
    give_back();
    throw;
  }
}

CudaDevice::~CudaDevice() { give_back(); }

// What a lost device refuses is gone in any case, so no code is looked at.
void CudaDevice::give_back() {
  for (const Address address : memory_) driver_.code_of(kCuFree, address);
  for (const cuda::Module module : modules_) driver_.code_of(kCuModuleUnload, module);
  for (const cuda::Event event : {begin_, end_})
    if (event) driver_.code_of(kCuEventDestroy, event);
  driver_.code_of(kCuContextRelease, device_);
}

CudaFacts CudaDevice::read_facts() const {
  const auto attribute = [&](int which) {
    int value = 0;
    driver_.call(kCuDeviceAttribute, &value, which, device_);
    return value;
  };
  CudaFacts facts{.capability = 10 * attribute(cuda::kCapabilityMajor) + attribute(cuda::kCapabilityMinor),
                  .multiprocessors = attribute(cuda::kMultiprocessors),
                  .l2_bytes = attribute(cuda::kL2Bytes),
                  .clock_khz = attribute(cuda::kClockKhz),
                  .memory_clock_khz = attribute(cuda::kMemoryClockKhz),
                  .memory_bus_bits = attribute(cuda::kMemoryBusBits)};
  std::array<char, cuda::kNameLength> name{};
  driver_.call(kCuDeviceName, name.data(), static_cast<int>(name.size()) - 1, device_);
  facts.name = name.data();
  facts.uuid = cuda_uuid(driver_, device_);
  int version = 0;  // 1000 * major + 10 * minor
  driver_.call(kCuDriverVersion, &version);
  facts.cuda = cat(version / 1000, ".", version % 1000 / 10);
  return facts;
}

int64_t CudaDevice::free_bytes() const {
  size_t free = 0, total = 0;
  driver_.call(kCuMemoryInfo, &free, &total);
  return static_cast<int64_t>(free);
}

Address CudaDevice::allocate(int64_t bytes) {
  Address address = 0;
  driver_.call(kCuAllocate, &address, static_cast<size_t>(bytes));
  memory_.push_back(address);
  return address;
}

cuda::Module CudaDevice::load(std::string_view image) {
  cuda::Module module = nullptr;
  driver_.call(kCuModuleLoad, &module, image.data());
  modules_.push_back(module);
  return module;
}

cuda::Function CudaDevice::function(cuda::Module module, const std::string& name) const {
  cuda::Function function = nullptr;
  driver_.call(kCuModuleFunction, &function, module, name.c_str());
  return function;
}

double CudaDevice::run(const CudaKernel& kernel, std::vector<void*> arguments) const {
  driver_.call(kCuEventRecord, begin_, kDefaultStream);
  driver_.call(kCuLaunch, kernel.function, static_cast<unsigned>(kernel.blocks), 1, 1,
               static_cast<unsigned>(kernel.threads), 1, 1, /*shared bytes*/ 0, kDefaultStream, arguments.data(),
               nullptr);
  driver_.call(kCuEventRecord, end_, kDefaultStream);
  driver_.call(kCuSynchronize, kDefaultStream);
  float milliseconds = 0;
  driver_.call(kCuEventElapsed, &milliseconds, begin_, end_);
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace tbd
