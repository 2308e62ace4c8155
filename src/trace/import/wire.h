// Protocol-buffer wire format, fields one by one, without schemas or a library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/import/source.h"

namespace tbd {

// Where in a message, or in one inside it, the bytes are none.
class WireError : public Error {
 public:
  WireError(const char* at, const std::string& sentence) : Error(ErrorKind::invalid, sentence), at_(at) {}
  // Its place in `message`, which holds the one that was read: "byte 12: a number is cut off".
  std::string place_in(std::string_view message) const { return cat("byte ", at_ - message.data(), ": ", what()); }

 private:
  const char* at_;
};

struct WireField {
  uint32_t number = 0;
  enum class Type : uint8_t { varint, fixed64, bytes, fixed32 } type = Type::varint;
  uint64_t value = 0;      // of varint and fixed ones; negative int64 as two's complement
  std::string_view bytes;  // of strings and messages
  int64_t integer() const { return static_cast<int64_t>(value); }
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  // False at the end. Throws WireError on what is no such message: groups, bad lengths, field number 0.
  bool next(WireField& field);

 private:
  [[noreturn]] void refuse(const std::string& sentence) const { throw WireError(rest_.data(), sentence); }
  uint64_t varint();
  std::string_view take(uint64_t size);
  std::string_view rest_;
};

// The whole source; throws Error(unsupported) beyond 1 GiB, since messages are read as one.
std::string read_message(ByteSource& source);

}  // namespace tbd
