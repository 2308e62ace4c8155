// For tests that end processes or wait for their end.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace tbd {

// The processes whose command line holds `words`.
inline std::vector<pid_t> processes_of(const std::string& words) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = parse_int(entry.path().filename().string());
    if (!pid) continue;
    try {
      if (read_file(entry.path() / "cmdline").find(words) != std::string::npos)
        found.push_back(static_cast<pid_t>(*pid));
    } catch (const Error&) {  // it ended
    }
  }
  return found;
}

}  // namespace tbd
