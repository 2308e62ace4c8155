// The part of NVML's binary interface that we call, declared from its reference (docs.nvidia.com/deploy/nvml-api), so
// that neither a header nor the library is needed to build. Every function returns a code unless it says otherwise.
#pragma once
#include <cstdint>

namespace tbd::nvml {

using Device = struct OpaqueDevice*;

inline constexpr int kSuccess = 0;
inline constexpr int kInvalidArgument = 2;
inline constexpr int kNotSupported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kInsufficientSize = 7;
inline constexpr int kDriverNotLoaded = 9;
inline constexpr int kGpuIsLost = 15;
inline constexpr int kOperatingSystem = 17;  // the system, or a cgroup, keeps the control device closed
inline constexpr int kVersionMismatch = 18;  // library and kernel module are of different drivers

inline constexpr int kClockSm = 1, kClockMemory = 2;
inline constexpr int kSensorOfGpu = 0;
inline constexpr unsigned kVersionLength = 80, kNameLength = 96, kUuidLength = 96;
inline constexpr uint64_t kMemoryUnknown = ~uint64_t{0};  // where a process's memory is not told

struct PciInfo {
  char short_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];  // "00000000:65:00.0"
};
static_assert(sizeof(PciInfo) == 68);

struct MemoryInfo {
  uint64_t total, free, used;  // bytes
};

struct Utilization {
  unsigned gpu, memory;  // percent
};

struct Process {
  unsigned pid;
  uint64_t used_memory;  // bytes
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(Process) == 24);

}  // namespace tbd::nvml
