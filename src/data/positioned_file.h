// A regular file that is read at any place.
#pragma once
#include <cstdint>
#include <filesystem>

#include "base/byte_source.h"

namespace tbd {

// Thread-safe.
class PositionedFile {
 public:
  // Throws as read_file.
  explicit PositionedFile(std::filesystem::path path);
  ~PositionedFile();
  PositionedFile(const PositionedFile&) = delete;
  PositionedFile& operator=(const PositionedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Up to `size` bytes from `begin` on; 0 at the end only. Throws Error(io).
  size_t read_at(int64_t begin, char* to, size_t size) const;

 private:
  std::filesystem::path path_;
  int number_ = -1;
};

// The file from its begin to its end; it must outlive this.
class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const PositionedFile& file) : file_(file) {}
  size_t read(char* to, size_t size) override;

 private:
  const PositionedFile& file_;
  int64_t next_ = 0;
};

}  // namespace tbd
