#include "measure/proc_text.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace tbd {
namespace {

// The white-space separated integers of `text`, up to the first word that is none.
std::vector<int64_t> integers(std::string_view text) {
  std::vector<int64_t> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t')) ++at;
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    // Some fields of proc(5) are unsigned 64 bit; those above int64 are addresses and limits that nobody here reads.
    if (error != std::errc{} && error != std::errc::result_out_of_range) return values;
    values.push_back(value);
    at = next;
  }
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const size_t name_end = text.rfind(')');  // the program's name may hold blanks and parentheses
  if (name_end == std::string_view::npos || name_end + 4 > text.size()) return std::nullopt;
  const std::vector<int64_t> f = integers(text.substr(name_end + 4));  // f[0] is field 4 of proc(5)
  if (f.size() < 21) return std::nullopt;
  return ProcessStat{.parent = static_cast<int>(f[0]),
                     .minor_faults = f[6],
                     .major_faults = f[8],
                     .child_minor_faults = f[7],
                     .child_major_faults = f[9],
                     .user_ticks = f[10],
                     .system_ticks = f[11],
                     .child_user_ticks = f[12],
                     .child_system_ticks = f[13],
                     .threads = f[16],
                     .start_ticks = f[18],
                     .resident_pages = f[20]};
}

std::optional<ThreadSchedule> parse_schedstat(std::string_view text) {
  const std::vector<int64_t> f = integers(text);
  if (f.size() != 3) return std::nullopt;
  return ThreadSchedule{f[0], f[1], f[2]};
}

std::map<int, CpuTicks> parse_machine_stat(std::string_view text) {
  std::map<int, CpuTicks> cpus;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("cpu")) break;  // the processors come first
    const std::vector<int64_t> f = integers(line.substr(3));
    if (line.substr(3, 1) == " " || f.size() < 9) continue;  // the sum of all, or an old kernel
    cpus[static_cast<int>(f[0])] = {f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]};
  }
  return cpus;
}

std::map<std::string, std::string, std::less<>> parse_colon_lines(std::string_view text) {
  std::map<std::string, std::string, std::less<>> lines;
  for (const std::string& line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (line.empty() && !lines.empty()) break;
      continue;
    }
    lines.emplace(trim(std::string_view(line).substr(0, colon)), trim(std::string_view(line).substr(colon + 1)));
  }
  return lines;
}

std::optional<int64_t> bytes_of_line(const std::map<std::string, std::string, std::less<>>& lines,
                                     std::string_view key) {
  const auto found = lines.find(key);
  if (found == lines.end() || !found->second.ends_with(" kB")) return std::nullopt;
  const auto kibibytes = parse_int(trim(std::string_view(found->second).substr(0, found->second.size() - 3)));
  if (!kibibytes) return std::nullopt;
  return *kibibytes * 1024;
}

int64_t parse_made_code(std::string_view text) {
  int64_t bytes = 0;
  bool is_code = false;  // of the mapping that the line belongs to
  for (const std::string& line : split(text, '\n')) {
    std::vector<std::string> words = split(line, ' ');
    std::erase(words, "");
    if (words.empty()) continue;
    if (!words[0].ends_with(':'))  // address, permissions, offset, device, inode, and a name where it has one
      is_code = words.size() == 5 && words[1].find('x') != std::string::npos;
    else if (is_code && words[0] == "Anonymous:" && words.size() == 3)
      bytes += parse_int(words[1]).value_or(0) * 1024;
  }
  return bytes;
}

std::map<std::string, int64_t, std::less<>> parse_flat_keys(std::string_view text) {
  std::map<std::string, int64_t, std::less<>> values;
  for (const std::string& line : split(text, '\n')) {
    const size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    if (const auto value = parse_int(trim(std::string_view(line).substr(blank))))
      values[line.substr(0, blank)] = *value;
  }
  return values;
}

std::optional<int64_t> parse_pressure_total(std::string_view text) {
  const size_t some = text.find("some ");
  const size_t total = text.find("total=", some == std::string_view::npos ? text.size() : some);
  if (total == std::string_view::npos) return std::nullopt;
  const std::vector<int64_t> value = integers(text.substr(total + 6));
  return value.empty() ? std::nullopt : std::optional(value[0]);
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  if (trim(text).empty()) return cpus;
  for (const std::string& part : split(trim(text), ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > 65535) return {};
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    parts.push_back(end == i + 1 ? cat(cpus[i]) : cat(cpus[i], "-", cpus[end - 1]));
    i = end;
  }
  return join(parts, ",");
}

}  // namespace tbd
