#include "base/json.h"
#include "measure/peaks/peaks.h"

namespace tbd {
namespace {

Json rate_json(const std::optional<PeakRate>& rate) {
  if (!rate) return nullptr;
  return {{"threads", rate->threads},
          {"samples", rate->samples},
          {"median", rate->median},
          {"best", rate->best},
          {"on_core", rate->on_core}};
}

std::optional<PeakRate> rate_from(const Json& json, const char* key) {
  const auto rate = maybe<Json>(json, key);
  if (!rate) return std::nullopt;
  return PeakRate{at<int64_t>(*rate, "threads"), at<int64_t>(*rate, "samples"), at<double>(*rate, "median"),
                  at<double>(*rate, "best"), at<double>(*rate, "on_core")};
}

}  // namespace

Json to_json(const Peaks& peaks) {
  Json kernels = Json::array();
  for (const PeakResult& result : peaks.kernels)
    kernels.push_back({{"kernel", result.kernel},
                       {"type", result.type},
                       {"unit", result.unit},
                       {"reason", result.reason.empty() ? Json(nullptr) : Json(result.reason)},
                       {"one_thread", rate_json(result.one)},
                       {"all_threads", rate_json(result.all)}});
  return {{"cores", peaks.cores},
          {"sample_seconds", peaks.sample_seconds},
          {"samples", peaks.samples},
          {"shortened", peaks.shortened},
          {"disturbed", peaks.disturbed()},
          {"core_clock_hz", or_null(peaks.core_clock_hz)},
          {"array_bytes", peaks.array_bytes},
          {"cache_bytes", or_null(peaks.cache_bytes)},
          {"gemm", peaks.gemm},
          {"measuring_seconds", peaks.measuring_seconds},
          {"kernels", std::move(kernels)}};
}

Peaks peaks_from_json(const Json& json) {
  Peaks peaks{.cores = at<std::vector<int>>(json, "cores"),
              .sample_seconds = at<double>(json, "sample_seconds"),
              .samples = at<int64_t>(json, "samples"),
              .shortened = at<bool>(json, "shortened"),
              .core_clock_hz = maybe<double>(json, "core_clock_hz"),
              .array_bytes = at<int64_t>(json, "array_bytes"),
              .cache_bytes = maybe<int64_t>(json, "cache_bytes"),
              .gemm = at<std::map<std::string, double>>(json, "gemm"),
              .measuring_seconds = at<double>(json, "measuring_seconds")};
  for (const Json& row : at<Json>(json, "kernels"))
    peaks.kernels.push_back({.kernel = at<std::string>(row, "kernel"),
                             .type = at<std::string>(row, "type"),
                             .unit = at<std::string>(row, "unit"),
                             .reason = maybe<std::string>(row, "reason").value_or(""),
                             .one = rate_from(row, "one_thread"),
                             .all = rate_from(row, "all_threads")});
  return peaks;
}

}  // namespace tbd
