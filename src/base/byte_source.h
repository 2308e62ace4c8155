// Bytes that come one after the other, from wherever they come.
#pragma once
#include <cstddef>
#include <string>

namespace tbd {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to `size` bytes into `to`; 0 at the end only. Throws Error(io).
  virtual size_t read(char* to, size_t size) = 0;
  // What cut the stream short ("the gzip stream is cut off"); empty while nothing did.
  virtual std::string damage() const { return {}; }
};

}  // namespace tbd
