#include "trace/import/wire.h"

#include "base/error.h"

namespace tbd {

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (rest_.empty()) refuse("a number is cut off");
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  refuse("a number is longer than ten bytes");
}

std::string_view WireReader::take(uint64_t size) {
  if (size > rest_.size()) refuse(cat("a field of ", size, " bytes where ", rest_.size(), " are left"));
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

bool WireReader::next(WireField& field) {
  if (rest_.empty()) return false;
  const uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 >= (1u << 29)) refuse(cat("field ", tag >> 3, " is none"));
  field = {.number = static_cast<uint32_t>(tag >> 3)};
  const auto fixed = [&](size_t size) {
    const std::string_view bytes = take(size);
    for (size_t i = size; i-- > 0;) field.value = field.value << 8 | static_cast<uint8_t>(bytes[i]);
  };
  switch (tag & 7) {
    case 0:
      field.value = varint();
      return true;
    case 1:
      field.type = WireField::Type::fixed64;
      fixed(8);
      return true;
    case 2:
      field.type = WireField::Type::bytes;
      field.bytes = take(varint());
      return true;
    case 5:
      field.type = WireField::Type::fixed32;
      fixed(4);
      return true;
    default:
      refuse(cat("wire type ", tag & 7, " is not read"));
  }
}

std::string read_message(ByteSource& source) {
  constexpr size_t kMost = size_t{1} << 30, kStep = size_t{1} << 20;
  std::string all;
  for (;;) {
    const size_t have = all.size();
    all.resize(have + kStep);
    const size_t got = source.read(all.data() + have, kStep);
    all.resize(have + got);
    if (got == 0) break;
    if (all.size() > kMost) fail(ErrorKind::unsupported, "a message of more than 1 GiB");
  }
  if (!source.damage().empty()) fail(ErrorKind::invalid, source.damage());
  return all;
}

}  // namespace tbd
