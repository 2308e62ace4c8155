// Where ranks run: the hosts that a person names, and launchers that start a copy of the program for each rank.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace tbd::cli {

// "a,b:2": a, b, b, a place for each rank. Throws Error(usage) where a host is empty or named twice.
std::vector<std::string> hosts_from(const std::string& text);

// Throws Error(usage) where a launcher (torchrun, mpirun, srun) started this program as one of several: each copy would
// measure for itself. Names the variables that say so, and those that disagree or cannot be.
void require_alone(const std::map<std::string, std::string>& environment);

}  // namespace tbd::cli
