#include "analysis/gpu_tables.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tbd {
namespace {

constexpr std::array<std::string_view, 6> kStructures = {
    "weights", "weight gradients", "feature maps", "workspace", "dynamic", "feature maps, workspace and dynamic"};

// While kernels run, of the vector units or of the tensor cores.
std::optional<double> active_share(const Profile* profile, bool tensor) {
  if (!profile) return std::nullopt;
  for (const FlopUse& use : profile->flops)
    if ((use.type != "fp32" && use.type != "fp64") == tensor) return use.active;
  return std::nullopt;
}

std::array<int64_t, kStructures.size()> by_structure(const MemoryReport& memory) {
  std::array<int64_t, kStructures.size()> bytes{};
  for (size_t c = 0; c < kMemoryClasses; ++c) {
    const auto place = std::ranges::find(kStructures, paper_class(static_cast<MemoryClass>(c)));
    bytes[static_cast<size_t>(place - kStructures.begin())] += memory.study.peak.requested[c];
  }
  return bytes;
}

std::string key_of(std::string_view structure) {
  std::string key(structure);
  std::ranges::replace(key, ' ', '_');
  std::erase(key, ',');
  return key + "_bytes";
}

}  // namespace

Table gpu_table(std::span<const GpuRow> rows) {
  Table table{.title = "Use of the GPU"};
  table.columns = {{"cell", "workload"},
                   {"gpu_utilization", "busy", Unit::fraction},
                   {"compute_utilization", "compute", Unit::fraction},
                   {"vector_active", "FP32", Unit::fraction},
                   {"tensor_active", "tensor cores", Unit::fraction},
                   {"mfu", "of peak", Unit::fraction},
                   {"gpu_memory_bytes", "device memory", Unit::bytes},
                   {"gpu_power", "power, W"},
                   {"energy_joules", "energy", Unit::joules},
                   {"energy_per_unit", "energy a unit", Unit::joules},
                   {"cpu_utilization", "CPU", Unit::fraction}};
  bool traced = true;
  for (const GpuRow& row : rows) {
    const auto value = [&](std::string_view id) { return cell(row.result[id].value); };
    const std::optional<double> compute =
        row.profile ? std::optional(row.profile->compute_utilization()) : std::nullopt;
    std::vector<TableCell> cells = {row.label,
                                    value("gpu_utilization"),
                                    cell(compute),
                                    cell(active_share(row.profile, false)),
                                    cell(active_share(row.profile, true)),
                                    value("mfu"),
                                    value("gpu_memory_bytes"),
                                    value("gpu_power"),
                                    value("energy_joules"),
                                    value("energy_per_unit"),
                                    value("cpu_utilization")};
    if (std::ranges::count(cells, TableCell()) + 1 == std::ssize(cells)) continue;  // it did not run
    table.rows.push_back(std::move(cells));
    traced = traced && row.profile;
  }
  table.notes = {
      "Busy: a kernel ran, by the driver; compute: by the trace. FP32 and tensor cores: FLOPs over the measured peak "
      "in "
      "that time. Of peak: the model's FLOPs over it in all time."};
  if (!traced)
    table.notes.push_back("What is missing comes from a traced launch: tbd profile, or --passes clean,trace.");
  return table;
}

Table gpu_memory_table(std::span<const GpuRow> rows) {
  Table table{.title = "Device memory by data structure"};
  std::vector<std::array<int64_t, kStructures.size()>> bytes;
  for (const GpuRow& row : rows)
    if (row.memory) bytes.push_back(by_structure(*row.memory));
  if (bytes.empty()) return table;
  table.columns = {{"cell", "workload"}};
  std::vector<size_t> shown;
  for (size_t s = 0; s < kStructures.size(); ++s) {
    if (std::ranges::all_of(bytes, [&](const auto& each) { return each[s] == 0; })) continue;
    shown.push_back(s);
    table.columns.push_back({key_of(kStructures[s]), std::string(kStructures[s]), Unit::bytes});
  }
  table.columns.push_back({"peak_bytes", "all, at the peak", Unit::bytes});
  table.columns.push_back({"process_bytes", "process, by the driver", Unit::bytes});
  size_t at = 0;
  for (const GpuRow& row : rows) {
    if (!row.memory) continue;
    std::vector<TableCell> cells = {row.label};
    for (const size_t s : shown) cells.emplace_back(bytes[at][s]);
    cells.emplace_back(sum(row.memory->study.peak.requested));
    cells.push_back(cell(row.memory->closure.of_device ? row.memory->closure.total : std::nullopt));
    table.rows.push_back(std::move(cells));
    ++at;
  }
  table.notes = {
      "As asked for, at the instant of the greatest sum; the process at the end of the last step. Dynamic: all other "
      "classes."};
  return table;
}

}  // namespace tbd
