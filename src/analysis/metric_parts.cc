#include "analysis/metric_parts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "stats/summary.h"

namespace tbd {
namespace {

// Medians of all threads by kernel, of this math type.
std::map<std::string, double> medians_of(const Json& measured, std::string_view type) {
  std::map<std::string, double> out;
  if (!measured.is_object()) return out;
  for (const Json& row : maybe<Json>(measured, "kernels").value_or(Json::array())) {
    const std::optional<Json> all = maybe<Json>(row, "all_threads");
    const std::optional<double> median = all && all->is_object() ? maybe<double>(*all, "median") : std::nullopt;
    if (median && *median > 0 && maybe<std::string>(row, "type") == type)
      out[maybe<std::string>(row, "kernel").value_or("")] = *median;
  }
  return out;
}

}  // namespace

double peaks_drift(const Json& peaks, std::string_view type) {
  if (!peaks.is_object()) return 0;
  const auto at = [&](const char* moment) { return maybe<Json>(peaks, moment).value_or(Json()); };
  const std::map<std::string, double> before = medians_of(at("before"), type), after = medians_of(at("after"), type);
  std::optional<double> largest;
  for (const auto& [kernel, median] : before)
    if (const auto later = after.find(kernel); later != after.end())
      largest = std::max(largest.value_or(0), std::abs(later->second / median - 1));
  return largest.value_or(std::abs(maybe<double>(peaks, "drift").value_or(0)));
}

Measured not_measured() { return absent("no step was measured after warming up"); }

Measured between_launches(std::span<const double> values) {
  if (values.empty()) return not_measured();
  const AcrossLaunches across = across_launches(values);
  Measured result{.value = across.value, .low = {}, .high = {}, .reason = {}};
  if (across.interval) {
    result.low = across.interval->low;
    result.high = across.interval->high;
  }
  return result;
}

const Json* gpu_use_of(const LaunchInfo& info) {
  if (!info.gpu || !(*info.gpu)->is_object()) return nullptr;
  const auto found = (*info.gpu)->find("use");
  return found != (*info.gpu)->end() && found->is_object() ? &*found : nullptr;
}

std::string launch_file(const LaunchView& launch, std::string_view name) {
  return cat("launches/", launch.launch->info.folder_name(), "/", name);
}

void add_totals(const RunView& run, Facts& facts) {
  facts.push_back({"steps after warming up, all launches", run.stable_steps(), "", "sum of the above"});
  facts.push_back({"sum of step times", run.seconds(), "s", "sum of the above"});
}

void add_column(const char* name, const char* unit, std::optional<int64_t> StepRow::*column, const RunView& run,
                Facts& facts) {
  facts.push_back({cat("sum of ", name, " over the steps after warming up"), known(total(run, column)), unit,
                   cat("steps.csv: ", name)});
}

void add_basis(const RunView& run, Facts& facts) {
  std::map<std::string, double> seconds;
  int64_t blocks = 0, undisturbed = 0;
  for (const LaunchView& launch : run.launches)
    for (const Block& block : launch.blocks) {
      ++blocks;
      undisturbed += block.undisturbed();
      for (const BlockCause& cause : block_causes())
        if ((block.*cause.share).value_or(0) > cause.most)
          seconds[cat(cause.what, " above ", format_percent(cause.most))] += block.seconds;
    }
  facts.push_back({"basis", std::string(name(run.basis)), "", "docs/statistics.md: what is estimated"});
  facts.push_back({"blocks of half a second", blocks, "", "steps.csv: pause_ns ends one"});
  facts.push_back({"undisturbed of these", undisturbed, "", "by evidence other than their step times"});
  for (const auto& [what, time] : seconds) facts.push_back({"time with " + what, time, "s", "steps.csv"});
  facts.push_back(
      {"share of undisturbed time", known(run.undisturbed_share), "", "undisturbed is the basis from 0.2 on"});
}

}  // namespace tbd
