#include "backends/tensorflow/wire.h"

namespace tbd::tensorflow {
namespace {

constexpr uint32_t kVarint = 0, kLengthDelimited = 2;

WireMessage gpu_options(const SessionSettings& settings) {
  constexpr uint32_t kAllowGrowth = 4, kVisibleDevices = 5;
  return WireMessage().integer(kAllowGrowth, 1).text(kVisibleDevices, std::to_string(*settings.gpu));
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

std::string session_config(const SessionSettings& settings) {
  constexpr uint32_t kDeviceCount = 1, kKey = 1, kValue = 2, kIntra = 2, kInter = 5, kGpuOptions = 6;
  WireMessage out;
  out.integer(kIntra, settings.intra_op_threads).integer(kInter, settings.inter_op_threads);
  if (settings.gpu)
    out.message(kGpuOptions, gpu_options(settings));
  else
    out.message(kDeviceCount, WireMessage().text(kKey, "GPU").integer(kValue, 0));
  return out.bytes();
}

std::string traced_run_options(bool with_devices) {
  constexpr uint32_t kTraceLevel = 1;
  constexpr int64_t kSoftwareTrace = 1, kFullTrace = 3;
  return WireMessage().integer(kTraceLevel, with_devices ? kFullTrace : kSoftwareTrace).bytes();
}

}  // namespace tbd::tensorflow
