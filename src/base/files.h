// Whole files, atomic replacement and scratch folders. What fails throws Error(io or not_found) naming the path.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace tbd {

// What is read is a regular file. A device, a named pipe or a socket may never end, so it is refused with
// Error(invalid), as is a folder. read_file also takes a pipe that this process was handed (/dev/stdin, <(COMMAND)),
// and refuses what is longer than `most`.
constexpr int64_t kMostFileBytes = int64_t{4} << 30;
std::string read_file(const std::filesystem::path& path, int64_t most = kMostFileBytes);
// For what opens a file by other means: throws as read_file does.
void require_regular_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view content);
// `fill` writes the file that it is given, which then takes the place of `path`: a reader sees the old content or the
// new, never half. A symbolic link stays and what it names is replaced; permissions and owner of a file that is there
// stay too. What is no regular file (a device, a pipe, /dev/stdout) is opened and gets the content.
void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& fill);
// The same with this content, synced before it takes the place.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);
// Whether there is one; no for what cannot be looked at.
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
void make_folder(const std::filesystem::path& path);  // with parents; fine if it exists

// A folder of its own under the system's temporary folder, removed with all it holds when this goes out of scope.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view prefix = "tbd");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tbd
