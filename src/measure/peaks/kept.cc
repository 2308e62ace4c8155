#include "measure/peaks/kept.h"

#include <cmath>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/clock.h"
#include "measure/peaks/judge.h"
#include "measure/system_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

struct Kept {
  std::string measured;
  Peaks peaks;
};

// The file is named for a part of the identity; the whole one stands in it.
fs::path file_of(const fs::path& folder, const Json& identity) {
  return folder / (sha256_hex(identity.dump()).substr(0, 16) + ".json");
}

std::optional<Kept> read_kept(const fs::path& file, const Json& identity) {
  if (!is_file(file)) return std::nullopt;
  try {
    const Json json = parse_json(read_file(file), file.string());
    if (at<Json>(json, "identity") != identity) return std::nullopt;
    return Kept{at<std::string>(json, "measured"), peaks_from_json(at<Json>(json, "peaks"))};
  } catch (const Error&) {  // a cache that cannot be read is no cache
    return std::nullopt;
  }
}

void keep(const fs::path& file, const Json& identity, const Kept& kept) {
  const Json json = {{"identity", identity}, {"measured", kept.measured}, {"peaks", to_json(kept.peaks)}};
  try {
    make_folder(file.parent_path());
    write_file_atomic(file, json.dump(1) + "\n");
  } catch (const Error&) {  // measured anew next time
  }
}

// The kernel with the highest median of all threads among those that `counts`.
template <class Counts>
std::optional<std::string> best_kernel(const Peaks& peaks, Counts counts) {
  const PeakResult* best = nullptr;
  for (const PeakResult& result : peaks.kernels)
    if (result.all && counts(result) && (!best || result.all->median > best->all->median)) best = &result;
  return best ? std::optional(best->kernel) : std::nullopt;
}

std::optional<double> change_of_fp32(const Peaks& kept, const Peaks& check) {
  const std::optional<double> before = isa_roof(kept, "fp32"), now = isa_roof(check, "fp32");
  if (!before || !now || *before <= 0) return std::nullopt;
  return *now / *before - 1;
}

bool within_gate(const std::optional<double>& change) { return gate(change, {}) == PeaksGate::ok; }

}  // namespace

Json to_json(const PeaksCheck& check) {
  return {{"measured", check.measured},
          {"holds", check.holds},
          {"drift", or_null(check.drift)},
          {"bandwidth_drift", or_null(check.bandwidth_drift)},
          {"arithmetic_change", or_null(check.arithmetic_change)},
          {"disturbed", check.disturbed}};
}

PeakOptions check_options(const Peaks& peaks) {
  PeakOptions options{.cores = peaks.cores, .sample_seconds = 0.02, .samples = 3, .one_thread = false};
  if (const auto name = best_kernel(peaks, [](const PeakResult& r) { return r.type == "fp32"; }))
    options.kernels.push_back(*name);
  if (const auto name = best_kernel(peaks, [](const PeakResult& r) { return r.kernel.starts_with("triad"); }))
    options.kernels.push_back(*name);
  if (peaks.array_bytes > 0) options.array_bytes = peaks.array_bytes;
  return options;
}

PeaksCheck judge_kept(const Peaks& kept, const Peaks& check, const std::string& measured) {
  PeaksCheck seen{.measured = measured,
                  .drift = drift(kept, check),
                  .bandwidth_drift = drift(kept, check, Roof::memory),
                  .arithmetic_change = change_of_fp32(kept, check),
                  .disturbed = check.disturbed()};
  const bool comparable = seen.drift || seen.bandwidth_drift;
  const bool lower = bandwidth_roof(check).value_or(0) < bandwidth_roof(kept).value_or(0);
  const bool memory = within_gate(seen.bandwidth_drift) || (seen.disturbed && lower);
  seen.holds = comparable && within_gate(seen.drift) && memory;
  return seen;
}

Json peaks_identity(const Json& hardware, const PeakOptions& options, const std::string& tool) {
  const auto boot = read_system_line("/proc/sys/kernel/random/boot_id");
  if (!boot) return nullptr;
  return {{"boot", *boot},
          {"hardware", hardware},
          {"cores", options.cores},
          {"sample_seconds", options.sample_seconds},
          {"samples", options.samples},
          {"tool", tool}};
}

std::optional<StartPeaks> kept_or_measured(const fs::path& folder, const Json& identity, const PeakOptions& options,
                                           const std::function<std::optional<Peaks>(const PeakOptions&)>& measure) {
  const bool may_keep = !folder.empty() && !identity.is_null();
  const fs::path file = may_keep ? file_of(folder, identity) : fs::path();
  std::optional<PeaksCheck> check;
  if (const std::optional<Kept> kept = may_keep ? read_kept(file, identity) : std::nullopt) {
    PeakOptions sample = check_options(kept->peaks);
    sample.cancelled = options.cancelled;
    const std::optional<Peaks> now = measure(sample);
    if (!now) return std::nullopt;
    check = judge_kept(kept->peaks, *now, kept->measured);
    if (check->holds) return StartPeaks{kept->peaks, check};
  }
  const std::optional<Peaks> peaks = measure(options);
  if (!peaks) return std::nullopt;
  if (may_keep) keep(file, identity, {wall_label(), *peaks});
  return StartPeaks{*peaks, check};
}

}  // namespace tbd
