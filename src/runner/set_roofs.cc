#include "runner/set_roofs.h"

#include <algorithm>

#include "measure/clock.h"
#include "measure/peaks/judge.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr double kCheckSeconds = 2;  // a check of the roofs, on a busy machine

}  // namespace

SetRoofs::SetRoofs(bool wanted, Effort effort, Json cpu, const RunnerSettings& settings)
    : wanted_(wanted), effort_(effort), cpu_(std::move(cpu)), settings_(settings) {}

bool SetRoofs::before_is_due(const PreparedCell& cell) const {
  return wanted_ && cell.cell.device == Device::kCpu && !before_.contains(cell.threads.threads);
}

void SetRoofs::measure_before(const PreparedCell& cell) {
  const ThreadPlan& plan = cell.threads;
  const bool publish = effort_ == Effort::publish;
  PeakOptions peaks = publish ? PeakOptions{} : quick_peak_options();
  const auto used = std::min(plan.cores.size(), static_cast<size_t>(plan.threads));
  peaks.cores.assign(plan.cores.begin(), plan.cores.begin() + static_cast<ptrdiff_t>(used));
  const Json identity = peaks_identity(cpu_, peaks, settings_.tool);
  const double began = now_seconds();
  peaks.cancelled = settings_.interrupted;
  const std::optional<StartPeaks> found =
      kept_or_measured(publish ? fs::path() : settings_.kept_peaks(), identity, peaks);
  if (!found) return;
  before_.emplace(plan.threads, *found);
  const double seconds = now_seconds() - began;
  seconds_after_ += publish || (found->check && found->check->holds) ? seconds : std::min(seconds, kCheckSeconds);
}

bool SetRoofs::after_is_due(const PreparedCell& cell) const {
  return before_.contains(cell.threads.threads) && !after_.contains(cell.threads.threads);
}

void SetRoofs::measure_after(const PreparedCell& cell) {
  const Peaks& before = before_.at(cell.threads.threads).peaks;
  PeakOptions peaks = check_options(before);
  if (effort_ == Effort::publish) peaks = {.cores = before.cores};
  peaks.cancelled = settings_.interrupted;
  if (const std::optional<Peaks> measured = measure_peaks(peaks)) after_.emplace(cell.threads.threads, *measured);
}

Json SetRoofs::of(const PreparedCell& cell, std::optional<double> gemm_rate) const {
  const int64_t threads = cell.threads.threads;
  const auto before = before_.find(threads);
  if (cell.cell.device != Device::kCpu) return Json::object();
  if (before == before_.end()) return cell.run.peaks;  // of an earlier run
  Peaks peaks = before->second.peaks;
  if (gemm_rate) merge_gemm(peaks, cell.cell.precision.text(), *gemm_rate);
  const auto after = after_.find(threads);
  Json json = peaks_for_record(peaks, after == after_.end() ? std::nullopt : std::optional(after->second));
  if (before->second.check) json["kept"] = to_json(*before->second.check);
  return json;
}

}  // namespace tbd
