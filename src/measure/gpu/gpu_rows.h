// What `tbd doctor` says of NVIDIA devices.
#pragma once
#include <string>
#include <vector>

#include "measure/doctor.h"
#include "measure/gpu/nvml.h"

namespace tbd {

// Where the system shows a driver; tests have places of their own.
struct GpuPlaces {
  std::string library = kNvmlLibrary;
  std::string driver = "/proc/driver/nvidia";  // there while the kernel module is loaded
  std::string device_nodes = "/dev";
  std::string pci = "/sys/bus/pci/devices";
  bool administrator = false;  // may read counters that the driver keeps from others
};

// The driver, then five rows a device: what it is, clocks, power, modes, other processes. Where no driver answers, one
// row that says at which point it fails. A row that is available and has a remedy is a limit that a person can lift.
std::vector<DoctorRow> gpu_rows(const GpuPlaces& places);

}  // namespace tbd
