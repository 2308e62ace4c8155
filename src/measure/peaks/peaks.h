// Measured roofs of the cores a run will use: register kernels (the ISA roofs) and memory bandwidth. Register kernels
// are timed by their threads' CPU time, so that other work on the machine does not lower what the cores can do;
// bandwidth is shared by all threads and timed by the wall. Roofs of a GPU (measure/gpu/gpu_peaks.h) have the same
// form.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace tbd {

struct PeakOptions {
  std::vector<int> cores;  // the run's thread set; empty: the usable cores
  double sample_seconds = 0.2;
  int64_t samples = 15;
  bool one_thread = true;                                  // measure one thread too
  std::vector<std::string> kernels;                        // names to measure; empty: all
  std::optional<int64_t> array_bytes;                      // each of the three; nullopt: by the caches (plan_arrays)
  std::function<bool()> cancelled = [] { return false; };  // asked before each sample
  bool shortened() const { return sample_seconds < 0.2 || samples < 15; }
};
// Less than docs/measurement-host.md asks for, stated in the result: 3 samples of 0.05 s.
PeakOptions quick_peak_options();

struct PeakRate {
  int64_t threads = 0, samples = 0;
  double median = 0, best = 0;  // FLOP/s or B/s, of all threads together
  double on_core = 1;           // least share of a sample's wall time that its threads were on their cores
};
struct PeakResult {
  std::string kernel;                // "fma512", "triad_nt"
  std::string type;                  // math type "fp32", or "bytes"
  std::string unit;                  // "vector", "matrix", "memory"
  std::string reason;                // why it was not measured; empty when it was
  std::optional<PeakRate> one, all;  // one thread; the whole set. With one core both are the same measurement
};
// The GPU that was measured.
struct PeakGpu {
  std::string name, uuid;
  std::string driver, cuda;  // "580.65.06", where the driver's library says so; the newest CUDA that it runs, "13.0"
  std::string compiler;      // "NVRTC 13.2"
  std::string capability;    // "9.0"
  int64_t multiprocessors = 0;
  std::optional<int64_t> memory_bytes;                             // all of it, where the driver's library says so
  std::optional<int64_t> sm_clock_before_mhz, sm_clock_after_mhz;  // after warming up, and after the last kernel
};
struct Peaks {
  std::vector<PeakResult> kernels;
  std::vector<int> cores;
  double sample_seconds = 0;
  int64_t samples = 0;
  bool shortened = false;
  std::optional<double> core_clock_hz;  // by dependent multiplies, after the kernels
  int64_t array_bytes = 0;
  std::optional<int64_t> cache_bytes;
  std::optional<PeakGpu> gpu;          // instead of `cores`
  std::map<std::string, double> gemm;  // FLOP/s by math type, as a framework's worker reports it (merge_gemm)
  double measuring_seconds = 0;
  bool disturbed() const;  // in some kernel's samples less than 95 % of the time was on the cores
};

// nullopt where it was cancelled. Throws Error(invalid) on an unknown kernel name or samples < 1.
std::optional<Peaks> measure_peaks(const PeakOptions& options);

// Keeps the better of the known rate and `flop_rate`.
void merge_gemm(Peaks& peaks, const std::string& type, double flop_rate);

// R_isa of a math type ("fp32"): the best median over its kernels with all threads; nullopt if none was measured.
std::optional<double> isa_roof(const Peaks& peaks, std::string_view type);
// β_mem, B/s: the better of the two triads' medians with all threads.
std::optional<double> bandwidth_roof(const Peaks& peaks);

Json to_json(const Peaks& peaks);
Peaks peaks_from_json(const Json& json);  // throws Error(invalid)

}  // namespace tbd
