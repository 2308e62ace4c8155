// Integers as bytes: LEB128 varints, zigzag for signed ones, deltas for columns.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tbd {

constexpr uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1)); }
// a - b and a + b without overflow: the two are each other's inverse for all values.
constexpr int64_t wrapped_difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t wrapped_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

class ByteWriter {
 public:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void signed_varint(int64_t value) { varint(zigzag(value)); }
  void text(std::string_view text) {
    varint(text.size());
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Throws Error(invalid) when the bytes end early or a varint does not fit 64 bits.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  uint64_t varint() {
    if (at_ < bytes_.size() && static_cast<uint8_t>(bytes_[at_]) < 0x80) return static_cast<uint8_t>(bytes_[at_++]);
    return bytes_.size() - at_ >= 8 ? whole_varint() : guarded_varint();
  }
  int64_t signed_varint() { return unzigzag(varint()); }
  std::string_view text() {
    const uint64_t size = varint();
    require(size <= bytes_.size() - at_, "a text is cut off");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  // A count of things that take at least `least` bytes each.
  size_t count(size_t least = 1) {
    const uint64_t count = varint();
    require(count <= (bytes_.size() - at_) / least, "a count of ", count, " with ", bytes_.size() - at_, " bytes left");
    return count;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  // Of up to eight bytes, which are there, without a branch for each.
  uint64_t whole_varint() {
    uint64_t word;
    std::memcpy(&word, bytes_.data() + at_, sizeof word);
    const uint64_t last = ~word & 0x8080808080808080u;  // the bytes that may end it
    if (last == 0) return guarded_varint();
    word &= last ^ (last - 1);  // none beyond the first of these
    at_ += static_cast<size_t>(std::countr_zero(last)) / 8 + 1;
    word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
    word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
    return (word & 0x000000000fffffffu) | (word & 0x0fffffff00000000u) >> 4;
  }
  uint64_t guarded_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      require(at_ < bytes_.size(), "a number is cut off");
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      require(shift < 63 || byte < 2, "a number is too long");
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail(ErrorKind::invalid, "a number is too long");
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace tbd
