#include "measure/system_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.h"

namespace tbd {

std::optional<std::string> read_system_file(const std::string& path) {
  std::string buffer;
  const auto text = SystemFile(path).read(buffer);
  if (!text) return std::nullopt;
  return std::string(*text);
}

std::optional<std::string> read_system_line(const std::string& path) {
  const auto text = read_system_file(path);
  if (!text || trim(*text).empty()) return std::nullopt;
  return std::string(trim(*text));
}

std::optional<int64_t> read_system_int(const std::string& path) {
  const auto line = read_system_line(path);
  return line ? parse_int(*line) : std::nullopt;
}

std::vector<pid_t> threads_of_this_process() {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error))
    if (const auto thread = parse_int(entry.path().filename().string())) threads.push_back(static_cast<pid_t>(*thread));
  std::ranges::sort(threads);
  return threads;
}

SystemFile::SystemFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

SystemFile::~SystemFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

SystemFile::SystemFile(SystemFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

SystemFile& SystemFile::operator=(SystemFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::optional<std::string_view> SystemFile::read_once(std::string& buffer) const {
  if (buffer.size() < 4096) buffer.resize(4096);
  const ssize_t got = pread(descriptor_, buffer.data(), buffer.size(), 0);
  if (got < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<size_t>(got));
}

std::optional<std::string_view> SystemFile::read(std::string& buffer) const {
  if (buffer.size() < 4096) buffer.resize(4096);
  for (size_t length = 0;;) {
    const ssize_t got = pread(descriptor_, buffer.data() + length, buffer.size() - length, static_cast<off_t>(length));
    if (got < 0) return std::nullopt;
    if (got == 0) return std::string_view(buffer.data(), length);
    length += static_cast<size_t>(got);
    if (length == buffer.size()) buffer.resize(2 * length);
  }
}

}  // namespace tbd
