// A row collects facts and remedies; what the device refuses is a fact with its reason.
#include "measure/gpu/gpu_rows.h"

#include <filesystem>

#include "base/text.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

constexpr const char* kStartWithGpu = "in a container: start it with the device (docker run --gpus all)";

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// A display or compute controller of NVIDIA's, with or without a driver.
bool pci_has_nvidia(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string device = entry.path().string();
    const bool nvidia = read_system_line(device + "/vendor") == "0x10de";
    if (nvidia && read_system_line(device + "/class").value_or("").starts_with("0x03")) return true;
  }
  return false;
}

DoctorRow without_library(const GpuPlaces& places, bool loaded, const NvmlRefusal& refusal) {
  DoctorRow row{.item = "NVIDIA GPU"};
  row.reason = cat(loaded ? "the driver is loaded, but " : "no NVIDIA driver answers: ", refusal.reason);
  if (loaded)
    row.remedy = cat("install the driver's libraries; ", kStartWithGpu);
  else if (pci_has_nvidia(places.pci))
    row.remedy = "install NVIDIA's driver: the machine has a device of theirs";
  return row;
}

DoctorRow without_answer(const GpuPlaces& places, const NvmlRefusal& refusal) {
  const bool loaded = is_there(places.driver + "/version");
  if (refusal.fault == NvmlFault::no_library) return without_library(places, loaded, refusal);
  DoctorRow row{.item = "NVIDIA GPU", .reason = refusal.reason};
  if (!loaded && refusal.fault == NvmlFault::no_driver) {
    row.reason = cat(places.library, " is there, but no NVIDIA driver is loaded");
    row.remedy = "modprobe nvidia, as root";
  } else if (loaded && !is_there(places.device_nodes + "/nvidiactl")) {
    row.reason = cat("driver without device node: there is no ", places.device_nodes, "/nvidiactl");
    row.remedy = cat("nvidia-modprobe -c 0 -u, as root; ", kStartWithGpu);
  } else if (refusal.fault == NvmlFault::version_mismatch) {
    row.remedy = "restart the machine: the driver was updated while it ran";
  } else if (refusal.fault == NvmlFault::not_permitted || refusal.fault == NvmlFault::blocked) {
    row.remedy = cat("let this user read and write ", places.device_nodes, "/nvidia*; ", kStartWithGpu);
  }
  return row;
}

// Facts of one row. The row is available when at least one of them is.
class RowOfFacts {
 public:
  explicit RowOfFacts(std::string item) { row_.item = std::move(item); }

  void add(std::string fact) {
    row_.available = true;
    facts_.push_back(std::move(fact));
  }
  void add_missing(std::string_view what, const std::string& reason) {
    facts_.push_back(cat(what, " unknown: ", reason));
  }
  void add_remedy(std::string remedy) { remedies_.push_back(std::move(remedy)); }

  DoctorRow finish() {
    (row_.available ? row_.detail : row_.reason) = join(facts_, "; ");
    row_.remedy = join(remedies_, "; ");
    return std::move(row_);
  }

 private:
  DoctorRow row_;
  std::vector<std::string> facts_, remedies_;
};

std::string of_most(const NvmlAnswer<int64_t>& most) { return most ? cat(" of at most ", *most) : std::string(); }

DoctorRow identity_row(const std::string& item, const NvmlDevice& gpu) {
  RowOfFacts row(item);
  if (const auto name = gpu.name())
    row.add(*name);
  else
    row.add_missing("name", name.reason());
  if (const auto address = gpu.pci_bus_id()) row.add(cat("PCI ", *address));
  if (const auto memory = gpu.memory())
    row.add(cat("memory ", format_bytes(memory->total_bytes), ", ", format_bytes(memory->used_bytes), " used"));
  else
    row.add_missing("memory", memory.reason());
  return row.finish();
}

std::string remedy_of_throttling(uint64_t reasons, std::string_view index) {
  if (reasons & (kThermalSlowdown | kHardwareThermalSlowdown)) return "cool it: look after its fans and the air around";
  if (reasons & kPowerCap) return cat("nvidia-smi -i ", index, " -pl WATTS raises its power limit, as root");
  if (reasons & (kHardwareSlowdown | kPowerBrake)) return "look after its power supply and cooling";
  return "";
}

DoctorRow clocks_row(const std::string& item, std::string_view index, const NvmlDevice& gpu) {
  RowOfFacts row(item + " clocks");
  if (const auto clock = gpu.sm_clock_mhz())
    row.add(cat("SM ", *clock, of_most(gpu.max_sm_clock_mhz()), " MHz"));
  else
    row.add_missing("SM clock", clock.reason());
  if (const auto clock = gpu.memory_clock_mhz())
    row.add(cat("memory ", *clock, of_most(gpu.max_memory_clock_mhz()), " MHz"));
  else
    row.add_missing("memory clock", clock.reason());
  if (const auto celsius = gpu.temperature_celsius()) row.add(cat(*celsius, " °C"));
  const auto reasons = gpu.throttle_reasons();
  if (!reasons) {
    row.add_missing("throttling", reasons.reason());
  } else if ((*reasons & kThrottled) == 0) {
    row.add("not throttled");
  } else {
    row.add(cat("throttled: ", join(throttle_names(*reasons & kThrottled), ", ")));
    if (const std::string remedy = remedy_of_throttling(*reasons, index); !remedy.empty()) row.add_remedy(remedy);
  }
  return row.finish();
}

DoctorRow power_row(const std::string& item, const NvmlDevice& gpu) {
  RowOfFacts row(item + " power");
  if (const auto power = gpu.power_w()) {
    const auto limit = gpu.power_limit_w();
    row.add(cat(significant(*power), limit ? cat(" of at most ", significant(*limit)) : "", " W"));
  } else {
    row.add_missing("power", power.reason());
  }
  if (const auto energy = gpu.energy_joules())
    row.add("energy counter");
  else
    row.add_missing("energy", energy.reason());
  return row.finish();
}

DoctorRow modes_row(const std::string& item, std::string_view index, const NvmlDevice& gpu) {
  RowOfFacts row(item + " modes");
  const auto add = [&](std::string_view what, const NvmlAnswer<bool>& mode) {
    if (mode)
      row.add(cat(what, *mode ? " on" : " off"));
    else if (mode.fault() == NvmlFault::not_supported)
      row.add(cat("no ", what));
    else
      row.add_missing(what, mode.reason());
  };
  const auto persistence = gpu.persistence(), mig = gpu.mig();
  add("persistence", persistence);
  add("MIG", mig);
  add("ECC", gpu.ecc());
  if (persistence && !*persistence)
    row.add_remedy(cat("nvidia-smi -i ", index, " -pm 1, as root, keeps the driver loaded between runs"));
  if (mig && *mig)
    row.add_remedy(cat("nvidia-smi -i ", index, " -mig 0, as root, undoes the division; utilization needs that"));
  return row.finish();
}

DoctorRow processes_row(const std::string& item, const NvmlDevice& gpu) {
  RowOfFacts row(item + " other processes");
  const auto processes = gpu.compute_processes();
  if (!processes) {
    row.add_missing("processes", processes.reason());
    return row.finish();
  }
  if (processes->empty()) row.add("none");
  for (const GpuProcess& process : *processes)
    row.add(cat("process ", process.pid,
                process.used_bytes ? cat(" with ", format_bytes(*process.used_bytes)) : std::string()));
  if (!processes->empty()) row.add_remedy("wait until they end: they take time and memory of the device");
  return row.finish();
}

DoctorRow driver_row(const Nvml& nvml) {
  RowOfFacts row("GPU driver");
  if (const auto version = nvml.driver_version())
    row.add(*version);
  else
    row.add_missing("version", version.reason());
  if (const auto cuda = nvml.cuda_version())
    row.add(cat("CUDA up to ", *cuda));
  else
    row.add_missing("CUDA version", cuda.reason());
  return row.finish();
}

// The driver lets all users read hardware counters, or administrators alone.
DoctorRow counters_row(const GpuPlaces& places) {
  DoctorRow row{.item = "GPU hardware counters, unverified on hardware"};
  const auto parameters = parse_colon_lines(read_system_file(places.driver + "/params").value_or(""));
  const auto found = parameters.find("RmProfilingAdminOnly");
  if (found == parameters.end()) {
    row.reason = "the driver does not say who may read them";
  } else if (found->second == "0" || places.administrator) {
    row.available = true;
    row.detail = found->second == "0" ? "all users may read them" : "root may read them";
  } else {
    row.reason = "only root may read them";
    row.remedy = "run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
  }
  return row;
}

void add_device(const Nvml& nvml, int64_t index, std::vector<DoctorRow>& rows) {
  const std::string number = cat(index), item = cat("GPU ", index);
  const auto gpu = nvml.device(index);
  if (!gpu) {
    const bool lost = gpu.fault() == NvmlFault::lost;
    rows.push_back({.item = item, .reason = gpu.reason(), .remedy = lost ? "restart the machine" : ""});
    return;
  }
  rows.push_back(identity_row(item, *gpu));
  rows.push_back(clocks_row(item, number, *gpu));
  rows.push_back(power_row(item, *gpu));
  rows.push_back(modes_row(item, number, *gpu));
  rows.push_back(processes_row(item, *gpu));
}

}  // namespace

std::vector<DoctorRow> gpu_rows(const GpuPlaces& places) {
  const Nvml nvml(places.library);
  if (nvml.refusal().fault != NvmlFault::none) return {without_answer(places, nvml.refusal())};
  std::vector<DoctorRow> rows = {driver_row(nvml), counters_row(places)};
  const auto count = nvml.device_count();
  if (!count || *count == 0)
    rows.push_back({.item = "NVIDIA GPU", .reason = count ? "the driver answers, but has no device" : count.reason()});
  for (int64_t i = 0; i < count.value().value_or(0); ++i) add_device(nvml, i, rows);
  return rows;
}

}  // namespace tbd
