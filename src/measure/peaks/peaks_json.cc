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

Json gpu_json(const PeakGpu& gpu) {
  return {{"name", gpu.name},
          {"uuid", gpu.uuid},
          {"driver", gpu.driver.empty() ? Json(nullptr) : Json(gpu.driver)},
          {"cuda", gpu.cuda},
          {"compiler", gpu.compiler},
          {"compute_capability", gpu.capability},
          {"multiprocessors", gpu.multiprocessors},
          {"memory_bytes", or_null(gpu.memory_bytes)},
          {"sm_clock_before_mhz", or_null(gpu.sm_clock_before_mhz)},
          {"sm_clock_after_mhz", or_null(gpu.sm_clock_after_mhz)}};
}

PeakGpu gpu_from(const Json& json) {
  return {.name = at<std::string>(json, "name"),
          .uuid = at<std::string>(json, "uuid"),
          .driver = maybe<std::string>(json, "driver").value_or(""),
          .cuda = at<std::string>(json, "cuda"),
          .compiler = at<std::string>(json, "compiler"),
          .capability = at<std::string>(json, "compute_capability"),
          .multiprocessors = at<int64_t>(json, "multiprocessors"),
          .memory_bytes = maybe<int64_t>(json, "memory_bytes"),
          .sm_clock_before_mhz = maybe<int64_t>(json, "sm_clock_before_mhz"),
          .sm_clock_after_mhz = maybe<int64_t>(json, "sm_clock_after_mhz")};
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
  Json json{{"cores", peaks.cores},
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
  if (peaks.gpu) json["gpu"] = gpu_json(*peaks.gpu);
  return json;
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
  if (const auto gpu = maybe<Json>(json, "gpu")) peaks.gpu = gpu_from(*gpu);
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
