// Which records belong together, and the machine that each was measured on.
#include <algorithm>
#include <cmath>

#include "analysis/metric_parts.h"
#include "analysis/sweep/parts.h"
#include "base/json.h"
#include "record/axes.h"

namespace tbd {
namespace {

// Alike in what the plan alone decides, which the record of a cell that never reached its worker holds.
bool planned_alike(const MeasuredWorkload& a, const MeasuredWorkload& b) {
  const bool versions =
      a.framework_version.empty() || b.framework_version.empty() || a.framework_version == b.framework_version;
  return versions && alike_but({"batch", "mode", "framework_version", "allocator", "optimizer", "synchronisation",
                                "data_hash", "unpinned"},
                               a, b);
}

bool machine_alike(const std::string& a, const std::string& b, const std::string& unknown) {
  return a == b || a == unknown || b == unknown;
}

std::optional<double> environment_number(const Json& environment, const char* group, const char* key) {
  const std::optional<Json> found = maybe<Json>(environment, group);
  if (!found || !found->is_object() || !found->contains(key) || !found->at(key).is_number()) return std::nullopt;
  return found->at(key).get<double>();
}

std::string environment_text(const Json& environment, const char* group, const char* key) {
  const std::optional<Json> found = maybe<Json>(environment, group);
  if (!found || !found->is_object() || !found->contains(key) || !found->at(key).is_string()) return "";
  return found->at(key).get<std::string>();
}

// The name of the GPU that a record's workload ran on, as its launches or peaks have it; empty on a CPU.
std::string gpu_of(const Record& record) {
  if (!on_gpu(record.run.workload)) return "";
  if (const std::string gpu = environment_text(record.run.environment, "gpu", "name"); !gpu.empty()) return gpu;
  for (const Launch& launch : record.launches)
    if (launch.info.gpu && (*launch.info.gpu)->is_object())
      if (const auto name = maybe<std::string>(**launch.info.gpu, "name")) return *name;
  const std::optional<Json> before = maybe<Json>(record.run.peaks, "before");
  return before && before->is_object() ? environment_text(*before, "gpu", "name") : "";
}

// A launch that ended before its first step does not name the GPU that its fellows name.
bool same_machine(const std::string& a, const std::string& b, const Device& device) {
  if (a == b) return true;
  return device != Device::kCpu && (a.starts_with(b + ", ") || b.starts_with(a + ", "));
}

}  // namespace

std::string machine_of(const Record& record) {
  const Json& environment = record.run.environment;
  std::vector<std::string> parts;
  if (const std::string cpu = environment_text(environment, "cpu", "model"); !cpu.empty()) parts.push_back(cpu);
  std::optional<double> cores = environment_number(environment, "limits", "usable_cores");
  if (!cores) cores = environment_number(environment, "cpu", "logical_cpus");
  if (!cores) cores = environment_number(environment, "cpu", "cores");
  if (cores) parts.push_back(cat(*cores, *cores == 1 ? " core" : " cores"));
  std::optional<double> bytes = environment_number(environment, "limits", "memory_bytes");
  const std::optional<double> limit = environment_number(environment, "limits", "memory_limit_bytes");
  if (limit && (!bytes || *limit < *bytes)) bytes = limit;
  if (bytes) parts.push_back(cat(std::llround(*bytes / (1 << 30)), " GiB"));
  if (const std::string gpu = gpu_of(record); !gpu.empty()) parts.push_back(gpu);
  return parts.empty() ? "unknown machine" : join(parts, ", ");
}

namespace sweep_parts {

std::vector<std::vector<Candidate>> series(std::span<const Record> records) {
  static const std::string unknown = machine_of(Record{});
  struct Home {
    std::vector<Candidate> members;
    std::string machine;
  };
  std::vector<Home> homes;
  std::vector<Candidate> strays;
  for (const Record& record : records) {
    Candidate candidate{.record = &record, .cell = summarize(record), .reached_worker = !record.launches.empty()};
    if (!candidate.reached_worker) {
      strays.push_back(std::move(candidate));
      continue;
    }
    const std::string machine = machine_of(record);
    auto home = std::ranges::find_if(homes, [&](const Home& h) {
      const MeasuredWorkload& w = record.run.workload;
      return same_machine(h.machine, machine, w.device) &&
             alike_but({"batch"}, h.members.front().record->run.workload, w);
    });
    if (home == homes.end()) home = homes.insert(homes.end(), Home{.members = {}, .machine = machine});
    home->members.push_back(std::move(candidate));
  }
  for (Candidate& stray : strays) {
    const MeasuredWorkload& w = stray.record->run.workload;
    const std::string machine = machine_of(*stray.record);
    auto home = std::ranges::find_if(homes, [&](const Home& h) {
      return planned_alike(h.members.front().record->run.workload, w) && machine_alike(h.machine, machine, unknown);
    });
    if (home == homes.end()) home = homes.insert(homes.end(), Home{.members = {}, .machine = machine});
    home->members.push_back(std::move(stray));
  }
  std::vector<std::vector<Candidate>> out;
  for (Home& home : homes) out.push_back(std::move(home.members));
  return out;
}

}  // namespace sweep_parts
}  // namespace tbd
