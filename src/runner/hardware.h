// What workloads are predicted for: the cores of this machine and, where they train on a GPU, a GPU that need not be
// here.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "runner/plan.h"

namespace tbd {

// Of all threads together, or of a whole GPU.
struct Rates {
  std::map<std::string, double> flop_rate;  // FLOP/s by math type; "fp32" is always there
  double bandwidth = 0;                     // B/s
  int64_t threads = 1;
  std::string source;  // "assumed: ...", "measured: ...", "described: ...", for people
};
// From the core clock, measured in 10 ms, and what a core does in a cycle as its instruction set says. Without an
// instruction for bf16 its rate is that of emulating it.
Rates assumed_rates(int64_t threads);
// From the peaks that a record keeps of its cores; nullopt where it has none for fp32 and memory. They hold a peak of
// bf16 where there is an instruction for it.
std::optional<Rates> rates_of(const Json& peaks, const std::string& source);

struct GpuDescription {
  std::string name;                     // "NVIDIA H100 80GB HBM3"
  std::optional<int64_t> memory_bytes;  // all of it; unknown: every workload fits
  Rates rates;
};
// A GPU of which nothing is known: about an NVIDIA T4, the slowest that is in wide use.
GpuDescription assumed_gpu();
// From the peaks that a record keeps of a GPU; nullopt where it has none for fp32 and memory.
std::optional<GpuDescription> gpu_of(const Json& peaks, const std::string& source);
// From a record of a workload on a GPU (its folder or run.json), from what `tbd gpu-peaks --json` printed, or from a
// text of one's own (docs/plans.md):
//   {"name": "...", "memory": "80GiB", "bandwidth": 3.35e12, "flop_rate": {"fp32": 6.7e13, "bf16": 9.9e14}}
// Throws Error(not_found, io, invalid) that names the file and what is wrong in it.
GpuDescription read_gpu_description(const std::filesystem::path& path);

struct Hardware {
  Machine machine;
  Rates rates;  // of its cores
  GpuDescription gpu = assumed_gpu();
};

}  // namespace tbd
