// What the text files of Linux's /proc and cgroup folders say. Pure: text in, values out; nullopt where the text is
// not what proc(5) or the kernel's cgroup documentation describes.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// /proc/PID/stat. Times in clock ticks; `child` is what waited-for children used.
struct ProcessStat {
  int parent = 0;
  int64_t minor_faults = 0, major_faults = 0, child_minor_faults = 0, child_major_faults = 0;
  int64_t user_ticks = 0, system_ticks = 0, child_user_ticks = 0, child_system_ticks = 0;
  int64_t threads = 0, start_ticks = 0, resident_pages = 0;
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// /proc/PID/task/TID/schedstat: time on a core, and time runnable but waiting for one.
struct ThreadSchedule {
  int64_t cpu_ns = 0, wait_ns = 0, slices = 0;
};
std::optional<ThreadSchedule> parse_schedstat(std::string_view text);

// A line of /proc/stat, in clock ticks. `user` holds guest time.
struct CpuTicks {
  int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  int64_t busy() const { return user + nice + system + irq + softirq; }
  int64_t total() const { return busy() + idle + iowait + steal; }
};
// The processors of /proc/stat by number.
std::map<int, CpuTicks> parse_machine_stat(std::string_view text);

// "Key: value" lines (/proc/PID/status, /proc/cpuinfo up to its first empty line, /proc/meminfo).
std::map<std::string, std::string, std::less<>> parse_colon_lines(std::string_view text);
// "VmHWM: 123 kB" -> 125952; nullopt if the key is missing.
std::optional<int64_t> bytes_of_line(const std::map<std::string, std::string, std::less<>>& lines,
                                     std::string_view key);

// /proc/PID/smaps: bytes of machine code that was made at run time, which are the anonymous pages of mappings that can
// be executed and are of no file.
int64_t parse_made_code(std::string_view text);

// "key value" lines (cpu.stat, memory.stat).
std::map<std::string, int64_t, std::less<>> parse_flat_keys(std::string_view text);

// Total stall time of a /proc/pressure file's "some" line, in microseconds.
std::optional<int64_t> parse_pressure_total(std::string_view text);

// "0-3,8" -> {0, 1, 2, 3, 8}; empty for malformed text.
std::vector<int> parse_cpu_list(std::string_view text);
// {0, 1, 2, 3, 8} -> "0-3,8".
std::string cpu_list(const std::vector<int>& cpus);

}  // namespace tbd
