#include "data/positioned_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files.h"

namespace tbd {

PositionedFile::PositionedFile(std::filesystem::path path) : path_(std::move(path)) {
  require_regular_file(path_);
  number_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (number_ < 0) fail(ErrorKind::io, "cannot read ", path_.string(), ": ", std::strerror(errno));
}

PositionedFile::~PositionedFile() { ::close(number_); }

size_t PositionedFile::read_at(int64_t begin, char* to, size_t size) const {
  for (;;) {
    const ssize_t got = ::pread(number_, to, size, begin);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) fail(ErrorKind::io, "cannot read ", path_.string(), ": ", std::strerror(errno));
  }
}

size_t FileBytes::read(char* to, size_t size) {
  const size_t got = file_.read_at(next_, to, size);
  next_ += static_cast<int64_t>(got);
  return got;
}

}  // namespace tbd
