// The bytes of a file, plain or gzip (RFC 1952, several members one after the other), as a stream.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
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

// Throws Error(not_found, io). A gzip stream that is cut off or damaged ends there, with `damage`; one that expands
// more than 300-fold beyond the first 64 MiB, as no trace does, throws Error(invalid).
std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path);
// Over bytes in memory, plain or gzip; they must outlive it.
std::unique_ptr<ByteSource> memory_source(std::string_view bytes);

}  // namespace tbd
