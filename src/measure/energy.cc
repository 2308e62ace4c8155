#include "measure/energy.h"

#include <filesystem>

#include "measure/system_file.h"

namespace tbd {

EnergyMeter::EnergyMeter(const std::string& root) {
  std::error_code error;
  bool unreadable = false;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    const std::string folder = entry.path().string();
    const auto name = read_system_line(folder + "/name");
    const auto range = read_system_int(folder + "/max_energy_range_uj");
    if (!name || !name->starts_with("package")) continue;  // sub-zones are parts of a package; DRAM is one of them
    if (range && read_system_int(folder + "/energy_uj"))
      zones_.push_back({folder, *name, *range});
    else
      unreadable = true;
  }
  if (zones_.empty())
    reason_ =
        unreadable ? "the energy counters may be read by root only" : "the kernel shows no package energy counters";
}

std::vector<std::string> EnergyMeter::scope() const {
  std::vector<std::string> names;
  for (const Zone& zone : zones_) names.push_back(zone.name);
  return names;
}

std::optional<int64_t> EnergyMeter::read_uj() {
  if (zones_.empty()) return std::nullopt;
  for (Zone& zone : zones_) {
    const auto now = read_system_int(zone.folder + "/energy_uj");
    if (!now) return std::nullopt;
    if (zone.last_uj >= 0)
      total_uj_ += *now >= zone.last_uj ? *now - zone.last_uj : *now + zone.range_uj - zone.last_uj;
    zone.last_uj = *now;
  }
  return total_uj_;
}

}  // namespace tbd
