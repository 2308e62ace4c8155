// The file that MXNet's profiler leaves (docs/trace.md, MXNet profile), as rows.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tbd::mxnet {

// One op that MXNet ran, named by its type alone: "Convolution". Whole microseconds since 1970.
struct ProfileRow {
  std::string op;
  int64_t begin_us = 0, end_us = 0;
  uint64_t thread = 0;  // std::hash of its std::thread::id
};

// In the order in which each thread finished them. Rows that begin and do not end are left out. Throws
// Error(not_found).
std::vector<ProfileRow> read_profile(const std::filesystem::path& file);

}  // namespace tbd::mxnet
