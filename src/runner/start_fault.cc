#include "runner/start_fault.h"

#include <csignal>
#include <string_view>

namespace tbd {
namespace {

constexpr int kLoaderFailed = 127;  // the dynamic loader's exit code, and that of a shell that finds no program

// "/…/worker: error while loading shared libraries: libx.so: cannot open …" -> "libx.so: cannot open …".
std::string after_last(const std::string& line, std::string_view words) {
  const size_t at = line.rfind(words);
  return at == std::string::npos ? line : line.substr(at + words.size());
}

}  // namespace

std::optional<std::string> start_fault(const ExitStatus& status, const std::string& last_line) {
  const bool another_version = last_line.find("not found (required by") != std::string::npos;
  if (status.code == kLoaderFailed || (status.code && another_version))
    return after_last(last_line, "error while loading shared libraries: ");
  if (status.signal == SIGILL) return "this CPU lacks an instruction that it was built with";
  // TensorFlow names the instructions that it misses, then aborts.
  if (status.signal == SIGABRT && last_line.find("instructions") != std::string::npos) return last_line;
  return std::nullopt;
}

}  // namespace tbd
