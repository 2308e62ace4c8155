// A description is one of three JSON objects. They are told apart by what each has and the others have not: a record's
// `peaks`, the `kernels` of measured peaks, or `flop_rate`.
#include "runner/hardware.h"

#include "base/amounts.h"
#include "base/files.h"
#include "base/json.h"
#include "base/word.h"
#include "measure/core_clock.h"
#include "measure/peaks/judge.h"
#include "measure/peaks/kernel.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr double kAssumedClock = 3e9;       // Hz, where it cannot be measured
constexpr double kAssumedBandwidth = 10e9;  // B/s
// Of the rate of fp32, where the processor has no instruction for bf16 (docs/plans.md).
constexpr double kEmulated = 0.1;
const std::vector<std::string> kKeys = {"name", "memory", "bandwidth", "flop_rate"};
constexpr int64_t kLargestDescription = int64_t{64} << 20;  // bytes of a file

// FLOPs of one core in one cycle, fp32: two multiply-adds of eight numbers, or what is left without them.
double flops_a_cycle() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") ? 32 : 8;
#else
  return 16;
#endif
}

std::optional<Rates> rates_in(const Json& peaks, const std::string& source) {
  const auto isa = maybe<Json>(peaks, "isa");
  const auto bandwidth = maybe<double>(peaks, "bandwidth");
  if (!isa || !isa->is_object() || !maybe<double>(*isa, "fp32") || !bandwidth) return std::nullopt;
  Rates rates{.flop_rate = {},
              .bandwidth = *bandwidth,
              .threads = maybe<int64_t>(peaks, "threads").value_or(1),
              .source = cat("measured: the peaks of ", source)};
  for (const auto& [type, rate] : isa->items())
    if (rate.is_number() && rate.get<double>() > 0) rates.flop_rate[type] = rate.get<double>();
  if (!rates.flop_rate.contains("fp32") || !(rates.bandwidth > 0)) return std::nullopt;
  return rates;
}

// False where no kernel is written for the processor, so that nothing tells whether it has an instruction.
bool lacks_bf16() {
  bool known = false;
  for (const FlopKernel& kernel : flop_kernels()) {
    if (kernel.type != "bf16") continue;
    known = true;
    if (kernel.unavailable().empty()) return false;
  }
  return known;
}

std::optional<Json> measured_gpu(const Json& peaks) {
  const auto before = maybe<Json>(peaks, "before");
  return before ? maybe<Json>(*before, "gpu") : std::nullopt;
}

double above_zero(const Json& json, std::string_view key) {
  const auto value = at<double>(json, key);
  require(value > 0, "'", key, "': expected a number above 0, got ", value);
  return value;
}

int64_t memory_in(const Json& json) {
  const auto memory = at<Json>(json, "memory");
  if (memory.is_string()) return bytes_from(memory.get<std::string>(), "'memory'");
  const auto bytes = at<int64_t>(json, "memory");
  require(bytes > 0, "'memory': expected bytes above 0, got ", bytes);
  return bytes;
}

GpuDescription own_words(const Json& json, const std::string& source) {
  for (const auto& [key, value] : json.items()) require_known_name("key", key, kKeys);
  GpuDescription gpu{
      .name = at<std::string>(json, "name"),
      .memory_bytes = memory_in(json),
      .rates = {.flop_rate = {}, .bandwidth = above_zero(json, "bandwidth"), .source = cat("described: ", source)}};
  const auto rates = at<Json>(json, "flop_rate");
  require(rates.is_object(), "'flop_rate': expected an object of FLOP/s by math type");
  for (const auto& [type, rate] : rates.items()) gpu.rates.flop_rate[type] = above_zero(rates, type);
  require(gpu.rates.flop_rate.contains("fp32"), "'flop_rate' lacks fp32");
  return gpu;
}

GpuDescription description_in(const Json& json, const std::string& source) {
  require(json.is_object(), "expected an object");
  if (json.contains("flop_rate")) return own_words(json, source);
  const bool is_measured = json.contains("kernels");
  const Json peaks = is_measured ? peaks_for_record(peaks_from_json(json), std::nullopt)
                                 : maybe<Json>(json, "peaks").value_or(Json::object());
  const auto gpu = gpu_of(peaks, source);
  require(gpu.has_value(), "it describes no GPU: expected flop_rate, or peaks of a GPU for fp32 and memory");
  return *gpu;
}

}  // namespace

Rates assumed_rates(int64_t threads) {
  const std::optional<double> clock = measure_core_clock();
  const double fp32 = clock.value_or(kAssumedClock) * flops_a_cycle() * static_cast<double>(threads);
  std::map<std::string, double> rates = {{"fp32", fp32}};
  if (lacks_bf16()) rates["bf16"] = kEmulated * fp32;
  return {.flop_rate = std::move(rates),
          .bandwidth = kAssumedBandwidth,
          .threads = threads,
          .source = cat("assumed: ", significant(flops_a_cycle()), " FLOPs a core and cycle at ",
                        clock ? "the measured clock of " : "", format_rate(clock.value_or(kAssumedClock)), "Hz, ",
                        format_rate(kAssumedBandwidth), "B/s of memory; no record with peaks was found")};
}

std::optional<Rates> rates_of(const Json& peaks, const std::string& source) {
  if (measured_gpu(peaks)) return std::nullopt;
  std::optional<Rates> rates = rates_in(peaks, source);
  if (rates && !rates->flop_rate.contains("bf16")) rates->flop_rate["bf16"] = kEmulated * rates->flop_rate["fp32"];
  return rates;
}

// NVIDIA T4 Tensor Core GPU datasheet (2019): 8.1 TFLOP/s in fp32, 65 in fp16, 300 GB/s.
GpuDescription assumed_gpu() {
  return {.name = "a GPU that no record has measured",
          .rates = {.flop_rate = {{"fp32", 8.1e12}, {"fp16", 65e12}},
                    .bandwidth = 300e9,
                    .source = "assumed: the rates of an NVIDIA T4; no record with peaks of a GPU was found"}};
}

std::optional<GpuDescription> gpu_of(const Json& peaks, const std::string& source) {
  const std::optional<Json> gpu = measured_gpu(peaks);
  if (!gpu) return std::nullopt;
  std::optional<Rates> rates = rates_in(peaks, source);
  if (!rates) return std::nullopt;
  return GpuDescription{.name = at<std::string>(*gpu, "name"),
                        .memory_bytes = maybe<int64_t>(*gpu, "memory_bytes"),
                        .rates = std::move(*rates)};
}

GpuDescription read_gpu_description(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? path / "run.json" : path;
  const std::string name = path.string();
  const Json json = parse_json(read_file(file.string(), kLargestDescription), name);
  try {
    return description_in(json, name);
  } catch (const Error& e) {
    throw e.within(name);
  }
}

}  // namespace tbd
