// NVIDIA's ncu as a second witness of FLOPs: how many additions, multiplications and fused multiply-adds of fp32 the
// kernels of a program executed. Work of tensor cores is not among them. Unverified on hardware.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tbd {

struct Fp32Instructions {  // of threads, those that a predicate switched off left out
  double fadd = 0, fmul = 0, ffma = 0;
  int64_t kernels = 0;
  FlopCount flops() const;  // FADD + FMUL + 2 FFMA
};

// From the output of `ncu --csv --page raw`: lines of ncu itself ("==PROF== …"), a header, units, a line for each
// kernel. Throws Error(unsupported) with ncu's own sentence where it may not read counters (ERR_NVGPUCTRPERM) or failed
// otherwise, Error(invalid) where a line or a metric is missing.
Fp32Instructions fp32_instructions_from(std::string_view output);

struct NcuRun {
  std::string ncu = "ncu";  // a path, or a name looked for in the environment's PATH
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::filesystem::path folder;  // keeps what ncu and the program say on stderr, ncu.log
  double seconds = 600;
};
// Counts those of all processes of the command, which ncu runs kernel by kernel, many times slower than alone. Throws
// as fp32_instructions_from; Error(not_found) where there is no ncu, Error(io) where it took too long.
Fp32Instructions count_fp32_instructions(const NcuRun& run);

}  // namespace tbd
