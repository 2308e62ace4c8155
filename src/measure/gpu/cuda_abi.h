// The part of the CUDA driver's and of NVRTC's binary interface that we call, declared from their references (CUDA
// Driver API; NVRTC), so that neither a header nor a library is needed to build. Every function returns a code.
#pragma once

namespace tbd::cuda {

using Device = int;
using Context = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Event = struct OpaqueEvent*;
using Stream = struct OpaqueStream*;  // nullptr: the default one
using Address = unsigned long long;   // of device memory
using Program = struct OpaqueProgram*;

inline constexpr int kSuccess = 0;

// Attributes of a device.
inline constexpr int kClockKhz = 13, kMultiprocessors = 16, kMemoryClockKhz = 36, kMemoryBusBits = 37, kL2Bytes = 38,
                     kCapabilityMajor = 75, kCapabilityMinor = 76;
inline constexpr int kNameLength = 256;

struct Uuid {
  unsigned char bytes[16];
};

}  // namespace tbd::cuda
