// Small files of /proc and /sys.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// The whole text; nullopt if it is absent or unreadable.
std::optional<std::string> read_system_file(const std::string& path);
// As above without white space at its ends; nullopt also if it is empty.
std::optional<std::string> read_system_line(const std::string& path);
std::optional<int64_t> read_system_int(const std::string& path);
// Ids of the threads that this process has at the moment, ascending.
std::vector<pid_t> threads_of_this_process();

// A file that is read again and again through one descriptor, from its start.
class SystemFile {
 public:
  SystemFile() = default;
  explicit SystemFile(const std::string& path);
  ~SystemFile();
  SystemFile(SystemFile&& other) noexcept;
  SystemFile& operator=(SystemFile&& other) noexcept;

  bool is_open() const { return descriptor_ >= 0; }
  // The text, valid until the next read into `buffer`; nullopt if it can no longer be read (its process is gone).
  std::optional<std::string_view> read(std::string& buffer) const;
  // The same by a single system call, for the files of one short line that the kernel hands out in one piece.
  std::optional<std::string_view> read_once(std::string& buffer) const;

 private:
  int descriptor_ = -1;
};

}  // namespace tbd
