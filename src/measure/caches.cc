#include "measure/caches.h"

#include <algorithm>

#include "base/text.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {

std::optional<int64_t> parse_cache_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const char unit = text.back();
  const int64_t scale = unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : unit == 'G' ? 1024 * 1024 * 1024 : 0;
  const auto number = parse_int(scale == 0 ? text : text.substr(0, text.size() - 1));
  if (!number || *number <= 0) return std::nullopt;
  return *number * std::max<int64_t>(scale, 1);
}

std::vector<Cache> caches() {
  std::vector<Cache> found;
  const std::vector<int> online = parse_cpu_list(read_system_line("/sys/devices/system/cpu/online").value_or(""));
  for (const int cpu : online)
    for (int index = 0;; ++index) {
      const std::string folder = cat("/sys/devices/system/cpu/cpu", cpu, "/cache/index", index, "/");
      const auto level = read_system_int(folder + "level");
      if (!level) break;
      const auto bytes = parse_cache_size(read_system_line(folder + "size").value_or(""));
      Cache cache{static_cast<int>(*level), read_system_line(folder + "type").value_or(""), bytes.value_or(0),
                  parse_cpu_list(read_system_line(folder + "shared_cpu_list").value_or(""))};
      if (bytes && !cache.cpus.empty() && cache.cpus.front() == cpu) found.push_back(std::move(cache));
    }
  std::stable_sort(found.begin(), found.end(), [](const Cache& a, const Cache& b) { return a.level < b.level; });
  return found;
}

std::optional<int64_t> last_level_bytes(const std::vector<Cache>& all, const std::vector<int>& cpus) {
  if (all.empty()) return std::nullopt;
  int last = 0;
  for (const Cache& cache : all) last = std::max(last, cache.level);
  int64_t bytes = 0;
  for (const Cache& cache : all) {
    const auto reached = [&](int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); };
    if (cache.level == last && std::any_of(cache.cpus.begin(), cache.cpus.end(), reached)) bytes += cache.bytes;
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace tbd
