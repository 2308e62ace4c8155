#include <algorithm>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "measure/caches.h"
#include "measure/environment.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

const std::string kCpus = "/sys/devices/system/cpu/";

Json line(const std::string& path) { return or_null(read_system_line(path)); }

// A number of /proc/cpuinfo; null where it is absent.
Json number(const std::map<std::string, std::string, std::less<>>& info, std::string_view key) {
  const auto found = info.find(key);
  return found == info.end() ? Json(nullptr) : or_null(parse_int(found->second));
}

Json text(const std::map<std::string, std::string, std::less<>>& info, std::string_view key) {
  const auto found = info.find(key);
  return found == info.end() ? Json(nullptr) : Json(found->second);
}

// Instruction sets that decide speed; the full list of flags is long and mostly about other things.
Json instruction_sets(std::string_view flags) {
  const std::set<std::string> wanted = {
      "sse4_2",       "avx",         "avx2",        "fma",         "f16c",     "avx512f",  "avx512bw", "avx512dq",
      "avx512vl",     "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8",
      "constant_tsc", "nonstop_tsc", "asimd",       "asimddp",     "sve",      "sve2",     "bf16",     "hypervisor"};
  Json found = Json::array();
  for (const std::string& flag : split(flags, ' '))
    if (wanted.contains(flag)) found.push_back(flag);
  return found;
}

Json topology() {
  const std::vector<int> online = parse_cpu_list(read_system_line(kCpus + "online").value_or(""));
  std::set<std::string> sockets, cores;
  size_t most_siblings = 0;
  for (const int cpu : online) {
    const std::string folder = cat(kCpus, "cpu", cpu, "/topology/");
    const std::string socket = read_system_line(folder + "physical_package_id").value_or("");
    const std::string siblings = read_system_line(folder + "thread_siblings_list").value_or("");
    if (!socket.empty()) sockets.insert(socket);
    if (!siblings.empty()) cores.insert(siblings);
    most_siblings = std::max(most_siblings, parse_cpu_list(siblings).size());
  }
  return {{"logical_cpus", online.size()},
          {"sockets", sockets.empty() ? Json(nullptr) : Json(sockets.size())},
          {"physical_cores", cores.empty() ? Json(nullptr) : Json(cores.size())},
          {"threads_per_core", most_siblings == 0 ? Json(nullptr) : Json(most_siblings)},
          {"smt", line(kCpus + "smt/control")}};
}

// [{"level", "type", "bytes", "count"}]: caches of one kind and size together.
Json cache_table() {
  Json rows = Json::array();
  for (const Cache& cache : caches()) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const Json& row) {
      return row["level"] == cache.level && row["type"] == cache.type && row["bytes"] == cache.bytes;
    });
    if (same != rows.end())
      (*same)["count"] = (*same)["count"].get<int64_t>() + 1;
    else
      rows.push_back({{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}, {"count", 1}});
  }
  return rows;
}

Json numa_nodes() {
  const std::string folder = "/sys/devices/system/node/";
  Json nodes = Json::array();
  for (const int node : parse_cpu_list(read_system_line(folder + "online").value_or("")))
    nodes.push_back({{"node", node},
                     {"cpus", line(cat(folder, "node", node, "/cpulist"))},
                     {"distances", line(cat(folder, "node", node, "/distance"))}});
  return nodes;
}

Json kilohertz(const std::string& path) {
  const auto value = read_system_int(path);
  return value ? Json(*value * 1000) : Json(nullptr);
}

}  // namespace

Json capture_cpu() {
  const auto info = parse_colon_lines(read_system_file("/proc/cpuinfo").value_or(""));
  const auto flags = info.find("flags") != info.end() ? info.find("flags") : info.find("Features");
  const std::string frequency = kCpus + "cpu0/cpufreq/";
  Json cpu{{"model", text(info, "model name")},
           {"vendor", text(info, "vendor_id")},
           {"family", number(info, "cpu family")},
           {"model_number", number(info, "model")},
           {"stepping", number(info, "stepping")},
           {"microcode", text(info, "microcode")},
           {"instruction_sets", flags == info.end() ? Json(nullptr) : instruction_sets(flags->second)}};
  cpu.update(topology());
  cpu["caches"] = cache_table();
  cpu["numa"] = numa_nodes();
  cpu["governor"] = line(frequency + "scaling_governor");
  cpu["frequency_driver"] = line(frequency + "scaling_driver");
  cpu["base_clock_hz"] = kilohertz(frequency + "base_frequency");
  cpu["max_clock_hz"] = kilohertz(frequency + "cpuinfo_max_freq");
  cpu["boost"] = line(kCpus + "cpufreq/boost");
  cpu["clock_source"] = line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::error_code error;
  cpu["pmu"] = std::filesystem::exists("/sys/bus/event_source/devices/cpu", error);
  return cpu;
}

}  // namespace tbd
