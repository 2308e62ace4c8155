// The roofs of a GPU, measured by a process of their own: a context of CUDA holds memory of the device until its
// process ends, and would spoil what workers measure.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "measure/peaks/peaks.h"
#include "record/workload.h"
#include "runner/settings.h"

namespace tbd {

// CUDA's compiler among the folders of the frameworks, that of `first` before all others; empty where none has it.
std::filesystem::path nvrtc_of_workers(const WorkerEntry* first, const RunnerSettings& settings);

// What the driver says of the device, for peaks_identity(): name, UUID, version of the driver. Null where it says
// nothing.
Json gpu_identity(const Device& device, const RunnerSettings& settings);

// By `tbd gpu-peaks`. nullopt where it was cancelled. Throws Error(unsupported) that says why there are none.
std::optional<Peaks> gpu_peaks_of_process(const Device& device, const PeakOptions& options,
                                          const std::filesystem::path& nvrtc, const RunnerSettings& settings);

}  // namespace tbd
