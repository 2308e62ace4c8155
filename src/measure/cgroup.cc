#include "measure/cgroup.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

struct Mount {
  std::string root, point, type, options;
};

// One line of mountinfo: "ID PARENT DEV ROOT POINT OPTIONS ... - TYPE SOURCE SUPEROPTIONS".
std::optional<Mount> parse_mount(const std::string& line) {
  const std::vector<std::string> words = split(line, ' ');
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() < 6 || words.end() - dash < 4) return std::nullopt;
  return Mount{words[3], words[4], dash[1], dash[3]};
}

bool has(const std::string& list, std::string_view item) {
  const std::vector<std::string> items = split(list, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

// The group as seen below the mount, which may itself show only a part of the hierarchy (a container's).
std::string below(const std::string& group, const std::string& root) {
  std::string rest = group;
  if (root != "/" && rest.starts_with(root)) rest = rest.substr(root.size());
  if (rest == "/" || rest.starts_with("/..")) return "";
  return rest;
}

std::optional<CgroupPlace> place_of(const std::string& pid, std::string_view controller) {
  const auto cgroup = read_system_file("/proc/" + pid + "/cgroup");
  const auto mounts = read_system_file("/proc/" + pid + "/mountinfo");
  if (!cgroup || !mounts) return std::nullopt;
  return find_cgroup(controller, *cgroup, *mounts);
}

template <class T>
void tighten(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> quota_of(const std::string& folder, int version) {
  if (version == 2) {
    const auto text = read_system_line(folder + "/cpu.max");
    return text ? parse_cpu_max(*text) : std::nullopt;
  }
  const auto quota = read_system_int(folder + "/cpu.cfs_quota_us");
  const auto period = read_system_int(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<int64_t> memory_of(const std::string& folder, int version) {
  const auto limit = read_system_int(folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes"));
  constexpr int64_t kUnlimited = int64_t{1} << 60;  // version 1 writes the largest multiple of a page
  if (!limit || *limit >= kUnlimited) return std::nullopt;
  return limit;
}

}  // namespace

std::vector<std::string> CgroupPlace::folders() const {
  std::vector<std::string> found;
  for (std::string rest = relative; !rest.empty(); rest = rest.substr(0, rest.rfind('/')))
    found.push_back(mount + rest);
  found.push_back(mount);
  return found;
}

std::optional<CgroupPlace> find_cgroup(std::string_view controller, std::string_view cgroup,
                                       std::string_view mountinfo) {
  std::optional<std::string> v1, v2;
  for (const std::string& line : split(cgroup, '\n')) {
    const std::vector<std::string> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const std::string group = line.substr(parts[0].size() + parts[1].size() + 2);
    if (parts[0] == "0" && parts[1].empty()) v2 = group;
    if (has(parts[1], controller)) v1 = group;
  }
  for (const bool want_v1 : {true, false})
    for (const std::string& line : split(mountinfo, '\n')) {
      const auto mount = parse_mount(line);
      if (!mount) continue;
      if (want_v1 && v1 && mount->type == "cgroup" && has(mount->options, controller))
        return CgroupPlace{1, mount->point, below(*v1, mount->root)};
      if (!want_v1 && v2 && mount->type == "cgroup2") return CgroupPlace{2, mount->point, below(*v2, mount->root)};
    }
  return std::nullopt;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::vector<std::string> words = split(trim(text), ' ');
  if (words.size() != 2) return std::nullopt;
  const auto quota = parse_int(words[0]), period = parse_int(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

CgroupLimits cgroup_limits(int pid) {
  CgroupLimits limits;
  if (const auto cpu = place_of(std::to_string(pid), "cpu")) {
    limits.version = cpu->version;
    for (const std::string& folder : cpu->folders()) tighten(limits.cpu_quota_cores, quota_of(folder, cpu->version));
  }
  if (const auto memory = place_of(std::to_string(pid), "memory"))
    for (const std::string& folder : memory->folders())
      tighten(limits.memory_limit_bytes, memory_of(folder, memory->version));
  return limits;
}

std::vector<std::string> throttle_files(int pid) {
  std::vector<std::string> files;
  const auto cpu = place_of(std::to_string(pid), "cpu");
  if (!cpu) return files;
  for (const std::string& folder : cpu->folders())
    if (std::filesystem::exists(folder + "/cpu.stat")) files.push_back(folder + "/cpu.stat");
  return files;
}

}  // namespace tbd
