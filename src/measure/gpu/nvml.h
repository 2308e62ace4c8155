// What the NVIDIA driver says of its devices, by its management library (NVML), which is loaded at run time.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbd {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

enum class NvmlFault {
  none,
  no_library,        // it cannot be loaded
  no_function,       // the library is older than the function
  no_driver,         // the kernel module is not loaded, or has no device node
  not_permitted,     // for this user
  blocked,           // by the system: a device node that may not be opened
  version_mismatch,  // of library and kernel module
  not_supported,     // by this device
  lost,              // the device fell off the bus
  other,
};

struct NvmlRefusal {
  NvmlFault fault = NvmlFault::none;
  std::string reason;  // one clause: "the device does not report it (nvmlDeviceGetPowerUsage)"
};

// A value, or why there is none.
template <class T>
class NvmlAnswer {
 public:
  NvmlAnswer(T value) : value_(std::move(value)) {}
  NvmlAnswer(NvmlRefusal refusal) : refusal_(std::move(refusal)) {}

  explicit operator bool() const { return value_.has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return &*value_; }
  const std::optional<T>& value() const { return value_; }
  NvmlFault fault() const { return refusal_.fault; }
  const std::string& reason() const { return refusal_.reason; }  // empty where there is a value

 private:
  std::optional<T> value_;
  NvmlRefusal refusal_;
};

struct GpuMemory {
  int64_t total_bytes = 0, used_bytes = 0;  // used: by all processes and the driver
};

// Fractions in [0, 1] of the driver's last sampling period, 1/6 s to 1 s as the device has it.
struct GpuUtilization {
  double gpu = 0;     // a kernel ran, on however few multiprocessors
  double memory = 0;  // device memory was read or written
};

struct GpuProcess {
  int64_t pid = 0;                    // in the driver's namespace: a container's processes have others inside it
  std::optional<int64_t> used_bytes;  // of device memory
};

// Bits of NvmlDevice::throttle_reasons().
inline constexpr uint64_t kGpuIdle = 0x1;
inline constexpr uint64_t kClocksSetByUser = 0x2;
inline constexpr uint64_t kPowerCap = 0x4;
inline constexpr uint64_t kHardwareSlowdown = 0x8;
inline constexpr uint64_t kSyncBoost = 0x10;
inline constexpr uint64_t kThermalSlowdown = 0x20;
inline constexpr uint64_t kHardwareThermalSlowdown = 0x40;
inline constexpr uint64_t kPowerBrake = 0x80;
inline constexpr uint64_t kDisplayClocks = 0x100;
inline constexpr uint64_t kBoardLimit = 0x200;
inline constexpr uint64_t kReliability = 0x400;
// Those that take clocks away from a device that has work: neither idle nor set by a person.
inline constexpr uint64_t kThrottled = kPowerCap | kHardwareSlowdown | kSyncBoost | kThermalSlowdown |
                                       kHardwareThermalSlowdown | kPowerBrake | kBoardLimit | kReliability;
// "power cap", "thermal slowdown": one for each bit; a bit without a name reads "reason 2048".
std::vector<std::string> throttle_names(uint64_t reasons);

class NvmlFunctions;

// A device of an Nvml, which it must not outlive. Each call asks the driver anew. Safe for use by several threads.
class NvmlDevice {
 public:
  NvmlDevice(const NvmlFunctions& functions, void* handle) : functions_(&functions), handle_(handle) {}

  NvmlAnswer<std::string> name() const;
  NvmlAnswer<std::string> uuid() const;
  NvmlAnswer<std::string> pci_bus_id() const;  // "00000000:65:00.0"
  NvmlAnswer<GpuMemory> memory() const;
  NvmlAnswer<GpuUtilization> utilization() const;
  NvmlAnswer<int64_t> sm_clock_mhz() const;
  NvmlAnswer<int64_t> memory_clock_mhz() const;
  NvmlAnswer<int64_t> max_sm_clock_mhz() const;
  NvmlAnswer<int64_t> max_memory_clock_mhz() const;
  NvmlAnswer<double> power_w() const;  // of the whole board
  NvmlAnswer<double> power_limit_w() const;
  NvmlAnswer<double> energy_joules() const;  // since the driver was loaded
  NvmlAnswer<int64_t> temperature_celsius() const;
  NvmlAnswer<uint64_t> throttle_reasons() const;
  NvmlAnswer<bool> persistence() const;  // the driver stays loaded without a client
  NvmlAnswer<bool> mig() const;          // the device is divided into instances
  NvmlAnswer<bool> ecc() const;
  NvmlAnswer<std::vector<GpuProcess>> compute_processes() const;  // those with a CUDA context

 private:
  const NvmlFunctions* functions_;
  void* handle_;
};

// Loads the library, which stays loaded, and starts it; its destructor ends that.
class Nvml {
 public:
  explicit Nvml(const std::string& library = kNvmlLibrary);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Whether it answers; if it does not, neither do the functions below.
  const NvmlRefusal& refusal() const { return refusal_; }
  NvmlAnswer<std::string> driver_version() const;  // "580.65.06"
  NvmlAnswer<std::string> cuda_version() const;    // the newest that the driver can run: "13.0"
  NvmlAnswer<int64_t> device_count() const;
  // In the order of the PCI bus, which is CUDA's only under CUDA_DEVICE_ORDER=PCI_BUS_ID.
  NvmlAnswer<NvmlDevice> device(int64_t index) const;

 private:
  std::unique_ptr<const NvmlFunctions> functions_;
  NvmlRefusal refusal_;
};

}  // namespace tbd
