#include "runner/set_roofs.h"

#include <algorithm>
#include <span>

#include "measure/clock.h"
#include "measure/peaks/judge.h"
#include "runner/gpu_roofs.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr double kCheckSeconds = 2;  // a check of the roofs, on a busy machine

bool on_gpu(const PreparedCell& cell) { return cell.cell.device != Device::kCpu; }

// What workloads share their roofs by.
std::string hardware(const PreparedCell& cell) {
  if (on_gpu(cell)) return cell.cell.device.text();
  const std::string threads = cat(cell.threads.threads, " threads");
  return cell.cell.workers == 1 ? threads : cat(cell.cell.workers, " workers of ", threads);
}

// As many of each worker as it has threads, each core once.
std::vector<int> used_cores(const PreparedCell& cell) {
  std::vector<int> used;
  const auto add = [&](const std::vector<int>& cores) {
    const auto count = std::min(cores.size(), static_cast<size_t>(cell.threads.threads));
    for (const int core : std::span(cores).first(count))
      if (std::ranges::find(used, core) == used.end()) used.push_back(core);
  };
  if (cell.rank_cores.empty()) add(cell.threads.cores);
  for (const std::vector<int>& cores : cell.rank_cores) add(cores);
  return used;
}

}  // namespace

SetRoofs::SetRoofs(bool wanted, Effort effort, Json cpu, const RunnerSettings& settings)
    : wanted_(wanted), effort_(effort), cpu_(std::move(cpu)), settings_(settings) {}

std::optional<Peaks> SetRoofs::measure(const PreparedCell& cell, const PeakOptions& options) const {
  if (!on_gpu(cell)) return measure_peaks(options);
  return gpu_peaks_of_process(cell.cell.device, options, nvrtc_of_workers(cell.worker, settings_), settings_);
}

Json SetRoofs::identity(const PreparedCell& cell, const PeakOptions& options) const {
  const Json known = on_gpu(cell) ? gpu_identity(cell.cell.device, settings_) : cpu_;
  return known.is_null() ? Json(nullptr) : peaks_identity(known, options, settings_.tool);
}

bool SetRoofs::before_is_due(const PreparedCell& cell) const {
  return wanted_ && !before_.contains(hardware(cell)) && !reasons_.contains(hardware(cell));
}

void SetRoofs::measure_before(const PreparedCell& cell) {
  const bool publish = effort_ == Effort::publish;
  PeakOptions peaks = publish ? PeakOptions{} : quick_peak_options();
  if (!on_gpu(cell)) peaks.cores = used_cores(cell);
  peaks.cancelled = settings_.interrupted;
  const double began = now_seconds();
  std::optional<StartPeaks> found;
  try {
    found = kept_or_measured(publish ? fs::path() : settings_.kept_peaks(), identity(cell, peaks), peaks,
                             [&](const PeakOptions& options) { return measure(cell, options); });
  } catch (const Error& e) {
    if (!on_gpu(cell)) throw;
    reasons_[hardware(cell)] = e.what();
  }
  if (!found) return;
  before_.emplace(hardware(cell), *found);
  const double seconds = now_seconds() - began;
  seconds_after_ += publish || (found->check && found->check->holds) ? seconds : std::min(seconds, kCheckSeconds);
}

bool SetRoofs::after_is_due(const PreparedCell& cell) const {
  return before_.contains(hardware(cell)) && !after_.contains(hardware(cell)) && !reasons_.contains(hardware(cell));
}

void SetRoofs::measure_after(const PreparedCell& cell) {
  const Peaks& before = before_.at(hardware(cell)).peaks;
  PeakOptions peaks = check_options(before);
  if (effort_ == Effort::publish) peaks = {.cores = before.cores};
  peaks.cancelled = settings_.interrupted;
  try {
    if (const std::optional<Peaks> measured = measure(cell, peaks)) after_.emplace(hardware(cell), *measured);
  } catch (const Error& e) {
    if (!on_gpu(cell)) throw;
    reasons_[hardware(cell)] = cat("after the workloads: ", e.what());
  }
}

Json SetRoofs::of(const PreparedCell& cell, std::optional<double> gemm_rate) const {
  const auto before = before_.find(hardware(cell));
  const auto reason = reasons_.find(hardware(cell));
  if (before == before_.end() && reason == reasons_.end()) return cell.run.peaks;  // of an earlier run
  Peaks peaks = before == before_.end() ? Peaks{} : before->second.peaks;
  if (gemm_rate) merge_gemm(peaks, cell.cell.precision.text(), *gemm_rate);
  if (before == before_.end()) return {{"reason", reason->second}, {"gemm", peaks.gemm}};
  const auto after = after_.find(hardware(cell));
  Json json = peaks_for_record(peaks, after == after_.end() ? std::nullopt : std::optional(after->second));
  if (before->second.check) json["kept"] = to_json(*before->second.check);
  if (reason != reasons_.end()) json["reason"] = reason->second;
  return json;
}

}  // namespace tbd
