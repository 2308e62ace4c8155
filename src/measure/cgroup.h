// The control groups that hold a process, versions 1 and 2, and the limits they set on it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

struct CgroupPlace {
  int version = 2;
  std::string mount;     // where the hierarchy is mounted
  std::string relative;  // the group below it: "" or "/a/b"
  // The group's folder and those above it, up to the mount.
  std::vector<std::string> folders() const;
};

// Where `controller` ("cpu", "memory") governs a process, from the texts of its /proc/PID/cgroup and mountinfo.
// A version 1 hierarchy goes before version 2; nullopt if neither has the controller. Pure.
std::optional<CgroupPlace> find_cgroup(std::string_view controller, std::string_view cgroup,
                                       std::string_view mountinfo);

// Of the process and the groups above it: the tightest limits, and throttling at any of these levels.
struct CgroupLimits {
  int version = 0;                        // of the cpu controller; 0: no control group found
  std::optional<double> cpu_quota_cores;  // nullopt: unlimited
  std::optional<int64_t> memory_limit_bytes;
};
CgroupLimits cgroup_limits(int pid);

// "50000 100000" -> 0.5; "max 100000" -> nullopt (unlimited). cgroup v2 cpu.max.
std::optional<double> parse_cpu_max(std::string_view text);

// The cpu.stat files in which throttling of `pid` would show.
std::vector<std::string> throttle_files(int pid);

}  // namespace tbd
