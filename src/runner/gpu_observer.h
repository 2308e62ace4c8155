// Watches the GPU of a launch through the driver while its worker trains.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/json_value.h"
#include "measure/gpu/gpu_sampler.h"
#include "record/workload.h"

namespace tbd {

// The steps of a launch, in instants of now_ns().
struct StepSpan {
  int64_t begin_ns = 0, first_end_ns = 0, end_ns = 0;  // the first step's begin and end, the last one's end
};

class GpuObserver {
 public:
  // Samples the device that CUDA counts as `device` in a process with these variables, from now on. Where the driver
  // does not answer, end() says why.
  GpuObserver(const Device& device, const std::map<std::string, std::string>& environment, const std::string& library);

  // Ends sampling, once. Writes gpu.csv into `folder`. Returns launch.json's "gpu" (docs/record.md), whose "use" is of
  // these steps. `own`: the processes that train.
  JsonValue end(const StepSpan& steps, const std::set<int64_t>& own, const std::filesystem::path& folder);

 private:
  Nvml nvml_;
  std::string refusal_;
  std::optional<NvmlDevice> device_;
  std::optional<GpuWatch> watch_;
};

}  // namespace tbd
