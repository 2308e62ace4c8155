#include "backends/tensorflow/wire.h"

#include <algorithm>
#include <cstring>

namespace tbd::tensorflow {
namespace {

constexpr uint32_t kVarint = 0, kLengthDelimited = 2;

// A limit makes one virtual device of the GPU: TensorFlow's other limit is a share of memory, which a session does not
// know.
WireMessage gpu_options(const SessionSettings& settings) {
  constexpr uint32_t kAllowGrowth = 4, kVisibleDevices = 5, kExperimental = 9, kVirtualDevices = 1, kMemoryLimitMb = 1;
  WireMessage out;
  out.integer(kAllowGrowth, 1).text(kVisibleDevices, std::to_string(*settings.gpu));
  if (!settings.gpu_bytes) return out;
  const int64_t whole = std::max<int64_t>(1, *settings.gpu_bytes >> 20);
  const WireMessage device = WireMessage().number(kMemoryLimitMb, static_cast<float>(whole));
  return out.message(kExperimental, WireMessage().message(kVirtualDevices, device));
}

}  // namespace

void WireMessage::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

WireMessage& WireMessage::integer(uint32_t field, int64_t value) {
  varint(field << 3 | kVarint);
  varint(static_cast<uint64_t>(value));
  return *this;
}

WireMessage& WireMessage::text(uint32_t field, std::string_view bytes) {
  varint(field << 3 | kLengthDelimited);
  varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

WireMessage& WireMessage::number(uint32_t field, float value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return text(field, {bytes, sizeof bytes});
}

std::string session_config(const SessionSettings& settings) {
  constexpr uint32_t kDeviceCount = 1, kKey = 1, kValue = 2, kIntra = 2, kDeviceFilters = 4, kInter = 5,
                     kGpuOptions = 6;
  WireMessage out;
  out.integer(kIntra, settings.intra_op_threads).integer(kInter, settings.inter_op_threads);
  if (settings.gpu)
    out.message(kGpuOptions, gpu_options(settings));
  else
    out.message(kDeviceCount, WireMessage().text(kKey, "GPU").integer(kValue, 0));
  if (!settings.only_device.empty()) out.text(kDeviceFilters, settings.only_device);
  return out.bytes();
}

std::string traced_run_options(bool with_devices) {
  constexpr uint32_t kTraceLevel = 1;
  constexpr int64_t kSoftwareTrace = 1, kFullTrace = 3;
  return WireMessage().integer(kTraceLevel, with_devices ? kFullTrace : kSoftwareTrace).bytes();
}

}  // namespace tbd::tensorflow
