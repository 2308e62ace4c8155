// How much memory a workload may take where it runs; nullopt: unknown.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "runner/settings.h"

namespace tbd {

// Bytes of the machine, or of the control group's limit.
std::optional<int64_t> memory_limit();
// What is available of them now.
std::optional<int64_t> free_memory();

// The same of a device: on the CPU those above, of a GPU as its driver counts.
std::optional<int64_t> memory_limit(const Device& device, const RunnerSettings& settings);
std::optional<int64_t> free_memory(const Device& device, const RunnerSettings& settings);
// How much of a GPU's memory is taken now and by whom, one clause, for a workload that found too little; empty where it
// is less than a twentieth, or unknown, and of the CPU.
std::string taken_memory(const Device& device, const RunnerSettings& settings);

}  // namespace tbd
