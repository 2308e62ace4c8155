// The caches that the system shows under /sys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

struct Cache {
  int level = 0;
  std::string type;  // Data, Instruction, Unified
  int64_t bytes = 0;
  std::vector<int> cpus;  // that share it
};
// Each cache once, by level.
std::vector<Cache> caches();

// Sum of the last-level caches reached by `cpus`; nullopt where none is shown.
std::optional<int64_t> last_level_bytes(const std::vector<Cache>& all, const std::vector<int>& cpus);

// "32768K" -> 33554432; nullopt for anything else.
std::optional<int64_t> parse_cache_size(std::string_view text);

}  // namespace tbd
