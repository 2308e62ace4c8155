#include "measure/peaks/judge.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

std::optional<double> median_of(const Peaks& peaks, std::string_view kernel, std::string_view type) {
  for (const PeakResult& result : peaks.kernels)
    if (result.kernel == kernel && result.type == type && result.all) return result.all->median;
  return std::nullopt;
}

struct Band {
  double low, high;
};

Band wide_vectors(std::optional<int> amd_family) {
  if (amd_family == 25) return {0.9, 1.1};
  if (amd_family == 26) return {0.9, 2.1};
  return {1.5, 2.1};
}

void add(std::vector<SanityRow>& rows, std::string what, std::optional<double> value, std::optional<double> base,
         Band band) {
  if (value && base && *base > 0) rows.push_back({std::move(what), *value / *base, band.low, band.high});
}

std::optional<double> mean(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(0.5 * (*a + *b)) : a ? a : b;
}

std::string uuid_of(const Peaks& peaks) { return peaks.gpu ? peaks.gpu->uuid : ""; }

}  // namespace

std::vector<SanityRow> sanity(const Peaks& peaks, std::optional<int> amd_family) {
  std::vector<SanityRow> rows;
  const auto fma512 = median_of(peaks, "fma512", "fp32");
  for (const char* type : {"fp32", "fp64"})
    add(rows, cat("fma512 / fma256 ", type), median_of(peaks, "fma512", type), median_of(peaks, "fma256", type),
        wide_vectors(amd_family));
  add(rows, "avx512_bf16 / fma512", median_of(peaks, "avx512_bf16", "bf16"), fma512, {0.4, 2.2});
  add(rows, "amx_bf16 / fma512", median_of(peaks, "amx_bf16", "bf16"), fma512, {10, 18});
  for (const PeakResult& result : peaks.kernels)
    if (result.unit == "memory" && result.one && result.all)
      add(rows, cat(result.kernel, " ", result.all->threads, " threads / 1"), result.all->median, result.one->median,
          {1, 1.1 * static_cast<double>(result.all->threads)});
  const auto gemm = [&](const char* type) {
    const auto found = peaks.gemm.find(type);
    return found == peaks.gemm.end() ? std::nullopt : std::optional(found->second);
  };
  add(rows, "gemm / isa fp32", gemm("fp32"), isa_roof(peaks, "fp32"), {0.5, 1.02});
  add(rows, "gemm / isa bf16", gemm("bf16"), isa_roof(peaks, "bf16"), {0.1, 1.02});
  return rows;
}

std::vector<std::string> shared_cores(const Peaks& peaks) {
  std::vector<std::string> kernels;
  for (const PeakResult& result : peaks.kernels)
    if (result.unit != "memory" && result.one && result.all && result.all->threads > 1 &&
        result.all->median < 0.8 * static_cast<double>(result.all->threads) * result.one->median)
      kernels.push_back(cat(result.kernel, " ", result.type));
  return kernels;
}

std::optional<double> drift(const Peaks& before, const Peaks& after, Roof roof) {
  if (before.cores != after.cores || uuid_of(before) != uuid_of(after)) return std::nullopt;
  std::optional<double> largest;
  for (const PeakResult& result : before.kernels) {
    const auto later = median_of(after, result.kernel, result.type);
    if ((result.unit == "memory") != (roof == Roof::memory)) continue;
    if (!result.all || !later || result.all->median <= 0) continue;
    largest = std::max(largest.value_or(0), std::abs(*later / result.all->median - 1));
  }
  return largest;
}

PeaksGate gate(const std::optional<double>& drift, const std::vector<SanityRow>& sanity) {
  if (drift && *drift > 0.10) return PeaksGate::withheld;
  const bool insane = std::any_of(sanity.begin(), sanity.end(), [](const SanityRow& row) { return !row.holds(); });
  return insane || (drift && *drift > 0.03) ? PeaksGate::flagged : PeaksGate::ok;
}

Json peaks_for_record(const Peaks& before, const std::optional<Peaks>& after) {
  Json isa = Json::object(), gemm = Json::object();
  const auto later = [&](auto&& roof) { return after ? roof(*after) : std::nullopt; };
  for (const char* type : {"fp64", "fp32", "tf32", "fp16", "bf16"}) {
    const auto roof = [&](const Peaks& peaks) { return isa_roof(peaks, type); };
    if (const auto rate = mean(roof(before), later(roof))) isa[type] = *rate;
  }
  std::map<std::string, double> best = before.gemm;
  if (after)
    for (const auto& [type, rate] : after->gemm) best[type] = std::max(best[type], rate);
  for (const auto& [type, rate] : best) gemm[type] = rate;
  Json json{{"isa", std::move(isa)}, {"gemm", std::move(gemm)}};
  if (const auto rate = mean(bandwidth_roof(before), later(bandwidth_roof))) json["bandwidth"] = *rate;
  if (!before.gpu) json["threads"] = before.cores.size();
  if (const auto change = after ? drift(before, *after) : std::nullopt) json["drift"] = *change;
  if (const auto change = after ? drift(before, *after, Roof::memory) : std::nullopt) json["bandwidth_drift"] = *change;
  json["before"] = to_json(before);
  if (after) json["after"] = to_json(*after);
  return json;
}

}  // namespace tbd
