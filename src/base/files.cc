#include "base/files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

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
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

constexpr int kToRead = O_RDONLY | O_NONBLOCK | O_NOCTTY;  // waits for nobody to write

mode_t mode_of(const Descriptor& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) system_error("read", path);
  return status.st_mode;
}

void require_regular(mode_t mode, const fs::path& path) {
  require(!S_ISDIR(mode), "cannot read ", path.string(), ": it is a folder");
  require(S_ISREG(mode), "cannot read ", path.string(), ": it is not a regular file");
}

// A pipe without a name in a file system: who can open it was handed it.
bool is_handed_pipe(const Descriptor& file, mode_t mode) {
  struct statfs system {};
  return S_ISFIFO(mode) && ::fstatfs(file.get(), &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

// What is at the path, at the end of links; nullopt where there is nothing.
std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT) system_error("write", path);
  return std::nullopt;
}

// What the links from `path` name in the end, whether it exists or not.
fs::path end_of_links(fs::path path) {
  std::error_code no_link;
  for (fs::path next = fs::read_symlink(path, no_link); !no_link; next = fs::read_symlink(path, no_link))
    path = path.parent_path() / next;
  return path;
}

// stdout or stderr where that is the file meant: opened anew, it would be cut or written from its beginning.
std::optional<int> own_output(const struct stat& meant) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (::fstat(fd, &open) == 0 && open.st_dev == meant.st_dev && open.st_ino == meant.st_ino) return fd;
  }
  return std::nullopt;
}

void write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) system_error("write", path);
    content.remove_prefix(static_cast<size_t>(count));
  }
}

// Calls `take` with the content, a piece at a time.
template <class Take>
void read_pieces(const Descriptor& file, const fs::path& path, Take take) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) system_error("read", path);
    if (count == 0) return;
    take(std::string_view(buffer, static_cast<size_t>(count)));
  }
}

void copy_into(const fs::path& path, std::optional<int> open, const fs::path& from) {
  const Descriptor file =
      open ? Descriptor(::fcntl(*open, F_DUPFD_CLOEXEC, 0)) : Descriptor(path, O_WRONLY | O_TRUNC | O_NOCTTY, "write");
  read_pieces(Descriptor(from, O_RDONLY, "read"), from,
              [&](std::string_view piece) { write_all(file.get(), piece, path); });
}

// An empty file with owner and permissions of `like`; false where the system does not let it have them.
bool make_alike(const fs::path& path, const struct stat& like) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL, "write");
  struct stat own {};
  if (::fstat(file.get(), &own) != 0) system_error("write", path);
  const bool owned =
      (own.st_uid == like.st_uid && own.st_gid == like.st_gid) || ::fchown(file.get(), like.st_uid, like.st_gid) == 0;
  return owned && ::fchmod(file.get(), (like.st_mode & 07777) | S_IWUSR) == 0;
}

class Removed {  // at the end, if it is there
 public:
  explicit Removed(const fs::path& path) : path_(path) {}
  ~Removed() { ::unlink(path_.c_str()); }
  Removed(const Removed&) = delete;
  Removed& operator=(const Removed&) = delete;

 private:
  const fs::path& path_;
};

// false, and nothing is changed, where the system does not let the new file have the owner of the one that is there.
bool put_in_place(const fs::path& target, const std::optional<struct stat>& there,
                  const std::function<void(const fs::path&)>& fill) {
  const fs::path beside = target.string() + cat(".", ::getpid(), ".part");
  ::unlink(beside.c_str());  // of an earlier process that had this number
  const Removed half(beside);
  if (there && !make_alike(beside, *there)) return false;
  fill(beside);
  if (there && ::chmod(beside.c_str(), there->st_mode & 07777) != 0) system_error("write", target);
  if (::rename(beside.c_str(), target.c_str()) != 0) system_error("replace", target);
  return true;
}

}  // namespace

std::string read_file(const fs::path& path, int64_t most) {
  const Descriptor file(path, kToRead, "read");
  if (const mode_t mode = mode_of(file, path); !is_handed_pipe(file, mode))
    require_regular(mode, path);
  else if (::fcntl(file.get(), F_SETFL, 0) != 0)  // its content may be still to come
    system_error("read", path);
  std::string content;
  read_pieces(file, path, [&](std::string_view piece) {
    require(std::ssize(content) + std::ssize(piece) <= most, "cannot read ", path.string(), ": it is longer than ",
            format_bytes(most));
    content += piece;
  });
  return content;
}

void require_regular_file(const fs::path& path) {
  const Descriptor file(path, kToRead, "read");
  require_regular(mode_of(file, path), path);
}

void write_file(const fs::path& path, std::string_view content) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC, "write");
  write_all(file.get(), content, path);
}

void replace_file(const fs::path& path, const std::function<void(const fs::path&)>& fill) {
  const std::optional<struct stat> there = status_of(path);
  const std::optional<int> open = there ? own_output(*there) : std::nullopt;
  const bool replaceable = !there || (S_ISREG(there->st_mode) && !open);
  if (replaceable && put_in_place(end_of_links(path), there, fill)) return;
  const TemporaryFolder scratch;
  fill(scratch.path() / "content");
  copy_into(path, open, scratch.path() / "content");
}

void write_file_atomic(const fs::path& path, std::string_view content) {
  replace_file(path, [&](const fs::path& file) {
    write_file(file, content);
    const Descriptor written(file, O_RDONLY, "read");
    if (::fsync(written.get()) != 0) system_error("sync", file);
  });
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
