// Peaks that are kept for a boot of a machine, so that a short run need not measure them anew: a sample of a second
// says whether they still hold.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "measure/peaks/peaks.h"

namespace tbd {

// What a check of kept peaks saw.
struct PeaksCheck {
  std::string measured;                          // when the kept ones were, "2026-01-31T12:34:56Z"
  std::optional<double> drift, bandwidth_drift;  // largest |check / kept - 1|
  std::optional<double> arithmetic_change;       // check / kept - 1 of the fp32 roof: below 0 where it computed less
  bool disturbed = false;                        // other work had the cores while the check ran
  bool holds = false;                            // the kept ones were used
};
Json to_json(const PeaksCheck& check);

// The roofs by which all others are judged: the best fp32 loop and the better triad, all threads, over arrays of the
// same size. Throws as measure_peaks.
PeakOptions check_options(const Peaks& peaks);

// Arithmetic within the gate `peaks drift` (judge.h: 3 %), and so is memory. Memory that reads lower while other work
// had the cores says nothing against the kept rate.
PeaksCheck judge_kept(const Peaks& kept, const Peaks& check, const std::string& measured);

struct StartPeaks {
  Peaks peaks;
  std::optional<PeaksCheck> check;  // absent: none were kept
};
// What they depend on: the boot, the processor or GPU with its settings, the cores, the sampling, the tool. Null where
// the boot is unknown: then none are kept.
Json peaks_identity(const Json& hardware, const PeakOptions& options, const std::string& tool);

// The kept peaks of this identity, once `measure` with the options of a check says that they still hold; else measured
// with `options` and kept in `folder`. What cannot be read or written there is not kept. Absent where measuring was
// cancelled.
std::optional<StartPeaks> kept_or_measured(
    const std::filesystem::path& folder, const Json& identity, const PeakOptions& options,
    const std::function<std::optional<Peaks>(const PeakOptions&)>& measure = measure_peaks);

}  // namespace tbd
