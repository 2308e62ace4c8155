#include "backends/tensorflow/wire.h"

namespace tbd::tensorflow {
namespace {

constexpr uint32_t kVarint = 0, kLengthDelimited = 2;

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

std::string session_config(int64_t intra_op_threads, int64_t inter_op_threads) {
  constexpr uint32_t kIntra = 2, kInter = 5;
  return WireMessage().integer(kIntra, intra_op_threads).integer(kInter, inter_op_threads).bytes();
}

std::string traced_run_options() {
  constexpr uint32_t kTraceLevel = 1;
  constexpr int64_t kSoftwareTrace = 1;
  return WireMessage().integer(kTraceLevel, kSoftwareTrace).bytes();
}

}  // namespace tbd::tensorflow
