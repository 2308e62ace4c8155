// Energy of the processor packages by Linux's powercap counters (RAPL). A package meter reads everything on the
// package, whoever runs there.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbd {

class EnergyMeter {
 public:
  // Looks for zones below `root`.
  explicit EnergyMeter(const std::string& root = "/sys/class/powercap");

  bool available() const { return !zones_.empty(); }
  const std::string& reason() const { return reason_; }  // why not; empty when available
  std::vector<std::string> scope() const;                // names of the zones read: "package-0"
  // Microjoules since the first call, over all packages; counter wrap-around is undone as long as calls come more
  // often than it happens (minutes). nullopt when not available or a read fails.
  std::optional<int64_t> read_uj();

 private:
  struct Zone {
    std::string folder, name;
    int64_t range_uj = 0, last_uj = -1;
  };
  std::vector<Zone> zones_;
  std::string reason_;
  int64_t total_uj_ = 0;
};

}  // namespace tbd
