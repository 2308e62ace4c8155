// What measured peaks are good for: sanity of one set, drift between two, and the form in which a record keeps them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "measure/peaks/peaks.h"

namespace tbd {

// A ratio of medians that must lie in [low, high].
struct SanityRow {
  std::string what;  // "fma512 / fma256 fp32"
  double value = 0, low = 0, high = 0;
  bool holds() const { return low <= value && value <= high; }
};
// The ratios of docs/measurement-host.md for which both sides were measured. `amd_family`: the CPU family on AMD
// processors, nullopt elsewhere. AMD's family 25 (Zen 4) runs a 512-bit multiply-add in two halves, so 512/256 is 1
// there, and family 26 (Zen 5) exists in both forms.
std::vector<SanityRow> sanity(const Peaks& peaks, std::optional<int> amd_family);

// Thread scaling below 0.8 per thread marks shared cores (SMT siblings, or a busy machine).
std::vector<std::string> shared_cores(const Peaks& peaks);

// The largest |after/before - 1| over the medians both hold; nullopt if they hold none in common, or if their thread
// sets or devices differ. Arithmetic and memory apart: a drift of one does not spoil what is divided by the other.
enum class Roof { arithmetic, memory };
std::optional<double> drift(const Peaks& before, const Peaks& after, Roof roof = Roof::arithmetic);

// The gate `peaks drift`: > 3 % flags utilizations, > 10 % withholds them. Failing sanity flags as well.
enum class PeaksGate { ok, flagged, withheld };
PeaksGate gate(const std::optional<double>& drift, const std::vector<SanityRow>& sanity);

// {"isa": {type: FLOP/s}, "gemm": {...}, "bandwidth": B/s, "threads": n, "drift": fraction,
// "bandwidth_drift": fraction, ...}: rates are means of both medians, a rate that is unknown is an absent key, as are
// the threads of a GPU. Kernels stand in full under "before" and "after".
Json peaks_for_record(const Peaks& before, const std::optional<Peaks>& after);

}  // namespace tbd
