#include "runner/set_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "measure/clock.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> missing_folders(fs::path folder) {
  std::vector<fs::path> missing;
  for (; !folder.empty() && !fs::exists(folder); folder = folder.parent_path()) missing.push_back(folder);
  return missing;
}

std::string holder_text() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return cat("process ", ::getpid(), " on ", host.data(), " since ", wall_label());
}

// The file may have been removed by its last holder between open and flock: then it locks nothing.
bool is_still(int file, const fs::path& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

[[noreturn]] void refuse(const fs::path& set, const fs::path& file) {
  std::string holder = is_file(file) ? std::string(trim(read_file(file))) : "";
  if (holder.empty()) holder = "another process";
  fail(ErrorKind::usage, set.string(), " is being written by ", holder,
       ": wait until it ends, or choose another --out");
}

// The descriptor that holds the lock; nullopt where the file system has no locks.
std::optional<int> locked(const fs::path& set, const fs::path& path) {
  for (;;) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) fail(ErrorKind::io, "cannot write into ", set.string(), ": ", std::strerror(errno));
    const bool held = ::flock(file, LOCK_EX | LOCK_NB) == 0;
    const int code = errno;
    if (held && is_still(file, path)) return file;
    ::close(file);
    if (held) continue;
    if (code == EWOULDBLOCK) refuse(set, path);
    if (code == EINTR) continue;
    fs::remove(path);
    return std::nullopt;
  }
}

}  // namespace

SetLock::SetLock(const fs::path& set) : SetLock(set, missing_folders(set)) {}

SetLock::SetLock(fs::path set, std::vector<fs::path> made) : set_(std::move(set)), made_(std::move(made)) {
  try {
    make_folder(set_);
    file_ = locked(set_, set_ / ".lock").value_or(-1);
    if (file_ >= 0 && ::ftruncate(file_, 0) == 0) write_file(set_ / ".lock", holder_text() + "\n");
  } catch (...) {
    give_back();
    throw;
  }
}

SetLock SetLock::of_new_folder(const fs::path& wanted) {
  std::vector<fs::path> made = missing_folders(wanted.parent_path());
  if (!made.empty()) make_folder(made.front());
  fs::path folder = wanted;
  std::error_code code;
  for (int twin = 2; !fs::create_directory(folder, code); ++twin) {
    if (code) fail(ErrorKind::io, "cannot create folder ", folder.string(), ": ", code.message());
    folder = cat(wanted.string(), "-", twin);
  }
  made.insert(made.begin(), folder);
  return {std::move(folder), std::move(made)};
}

SetLock::~SetLock() { give_back(); }

void SetLock::give_back() {
  std::error_code ignored;  // what cannot be taken back stays
  if (file_ >= 0) {
    fs::remove(set_ / ".lock", ignored);
    ::close(file_);
  }
  for (const fs::path& folder : made_)
    if (fs::is_empty(folder, ignored)) fs::remove(folder, ignored);
}

}  // namespace tbd
