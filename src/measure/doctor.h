// What can be measured on this machine, and why not the rest.
#pragma once
#include <string>
#include <vector>

namespace tbd {

struct DoctorRow {
  std::string item;  // "run-queue wait"
  bool available = false;
  std::string detail;  // how, when available: "schedstat of each thread"
  std::string reason;  // why not; empty when available
  std::string remedy;  // one line that a person can act on; empty when there is none
};
// Probes anew; takes well under a second and changes nothing but the permission to use AMX tiles.
std::vector<DoctorRow> doctor_rows();

}  // namespace tbd
