#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void system_error(std::string_view action, const fs::path& path) {
  const int code = errno;
  fail(code == ENOENT ? ErrorKind::not_found : ErrorKind::io, "cannot ", action, " ", path.string(), ": ",
       std::strerror(code));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, std::string_view action)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) system_error(action, path);
  }
  ~Descriptor() { ::close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_file(const fs::path& path) {
  if (fs::is_directory(path)) fail(ErrorKind::io, "cannot read ", path.string(), ": it is a folder");
  const Descriptor file(path, O_RDONLY, "read");
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) system_error("read", path);
    if (count == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
  }
}

void write_file(const fs::path& path, std::string_view content) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC, "write");
  while (!content.empty()) {
    const ssize_t count = ::write(file.get(), content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) system_error("write", path);
    content.remove_prefix(static_cast<size_t>(count));
  }
}

void write_file_atomic(const fs::path& path, std::string_view content) {
  const fs::path beside = path.string() + cat(".", ::getpid(), ".part");
  try {
    write_file(beside, content);
    const Descriptor file(beside, O_RDONLY, "read");
    if (::fsync(file.get()) != 0) system_error("sync", beside);
    if (::rename(beside.c_str(), path.c_str()) != 0) system_error("replace", path);
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void make_folder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) fail(ErrorKind::io, "cannot create folder ", path.string(), ": ", code.message());
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  std::string pattern = (fs::temp_directory_path() / cat(prefix, "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) system_error("create a temporary folder", pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tbd
