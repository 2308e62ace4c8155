#include "measure/peaks/peaks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "base/text.h"
#include "measure/clock.h"
#include "measure/core_clock.h"
#include "measure/cores.h"
#include "measure/peaks/bandwidth.h"
#include "measure/peaks/kernel.h"
#include "measure/peaks/sampling.h"
#include "measure/peaks/team.h"

namespace tbd {
namespace {

double on_core(const TeamTime& time) {
  double cpu_ns = 0;
  for (const int64_t ns : time.cpu_ns) cpu_ns += static_cast<double>(ns);
  return cpu_ns / (static_cast<double>(time.cpu_ns.size()) * std::max(1.0, static_cast<double>(time.wall_ns)));
}

// The time in which the threads, each at its own rate per CPU second, would have done all the work together.
BatchTime by_cpu_time(const TeamTime& time) {
  double rates = 0;
  for (const int64_t ns : time.cpu_ns) rates += 1 / std::max(1.0, static_cast<double>(ns));
  return {static_cast<double>(time.cpu_ns.size()) / rates, on_core(time)};
}

BatchTime by_wall_time(const TeamTime& time) {
  return {std::max(1.0, static_cast<double>(time.wall_ns)), on_core(time)};
}

PeakRate measure_flops(const PeakOptions& options, const FlopKernel& kernel, const std::vector<int>& cpus) {
  constexpr int64_t kLoopsPerRepeat = 1000;
  struct alignas(64) Data {
    std::byte bytes[kKernelDataBytes];
  };
  std::vector<Data> data(cpus.size());
  for (size_t i = 0; i < cpus.size(); ++i) fill_kernel_data(kernel, i + 1, &data[i]);
  const auto threads = static_cast<int64_t>(cpus.size());
  const double work =
      static_cast<double>(threads * kLoopsPerRepeat * kernel.instructions * kernel.flop_per_instruction);
  return measure_rate(options, threads, work, [&](int64_t repeats) {
    return by_cpu_time(
        run_on_cores(cpus, [&](int64_t i) { kernel.loop(&data[static_cast<size_t>(i)], repeats * kLoopsPerRepeat); }));
  });
}

void add_flop_kernels(Peaks& peaks, const PeakOptions& options) {
  for (const FlopKernel& kernel : flop_kernels()) {
    if (!wanted(options, kernel.name)) continue;
    PeakResult result{std::string(kernel.name), std::string(kernel.type), std::string(kernel.unit),
                      kernel.unavailable()};
    if (result.reason.empty()) {
      result.all = measure_flops(options, kernel, peaks.cores);
      if (peaks.cores.size() == 1)
        result.one = result.all;
      else if (options.one_thread)
        result.one = measure_flops(options, kernel, {peaks.cores.front()});
    }
    peaks.kernels.push_back(std::move(result));
  }
}

void add_bandwidth(Peaks& peaks, const PeakOptions& options, const std::vector<int>& cpus,
                   std::optional<PeakRate> PeakResult::*member) {
  const Arrays arrays(cpus, peaks.array_bytes);
  for (const BandwidthKernel& kernel : bandwidth_kernels()) {
    if (!wanted(options, kernel.name)) continue;
    const double work = static_cast<double>(arrays.elements() * kernel.bytes_per_element);
    const auto known = std::find_if(peaks.kernels.begin(), peaks.kernels.end(),
                                    [&](const PeakResult& result) { return result.kernel == kernel.name; });
    PeakResult& result = known != peaks.kernels.end()
                             ? *known
                             : peaks.kernels.emplace_back(PeakResult{std::string(kernel.name), "bytes", "memory"});
    result.*member = measure_rate(options, static_cast<int64_t>(cpus.size()), work,
                                  [&](int64_t repeats) { return by_wall_time(arrays.run(kernel, repeats)); });
  }
}

void add_bandwidth_kernels(Peaks& peaks, const PeakOptions& options) {
  const auto kernels = bandwidth_kernels();
  if (std::none_of(kernels.begin(), kernels.end(), [&](const auto& k) { return wanted(options, k.name); })) return;
  const ArrayPlan plan = plan_arrays(peaks.cores);
  peaks.array_bytes = options.array_bytes.value_or(plan.bytes);
  peaks.cache_bytes = plan.cache_bytes;
  add_bandwidth(peaks, options, peaks.cores, &PeakResult::all);
  if (peaks.cores.size() > 1 && options.one_thread)
    add_bandwidth(peaks, options, {peaks.cores.front()}, &PeakResult::one);
  if (peaks.cores.size() == 1)
    for (PeakResult& result : peaks.kernels)
      if (result.unit == "memory") result.one = result.all;
}

std::vector<std::string> core_kernel_names() {
  std::vector<std::string> names;
  for (const FlopKernel& kernel : flop_kernels()) names.emplace_back(kernel.name);
  for (const BandwidthKernel& kernel : bandwidth_kernels()) names.emplace_back(kernel.name);
  return names;
}

std::vector<int> usable_set() {
  std::vector<int> cpus = allowed_cpus();
  const auto usable = static_cast<size_t>(std::max(1.0, std::floor(usable_cores())));
  cpus.resize(std::min(cpus.size(), usable));
  return cpus;
}

}  // namespace

PeakOptions quick_peak_options() { return {.sample_seconds = 0.05, .samples = 3}; }

std::optional<Peaks> measure_peaks(const PeakOptions& options) try {
  require_measurable(options, core_kernel_names());
  const int64_t begin = now_ns();
  Peaks peaks{.cores = options.cores.empty() ? usable_set() : options.cores,
              .sample_seconds = options.sample_seconds,
              .samples = options.samples,
              .shortened = options.shortened()};
  add_flop_kernels(peaks, options);
  peaks.core_clock_hz = measure_core_clock();
  add_bandwidth_kernels(peaks, options);
  peaks.measuring_seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  return peaks;
} catch (const SamplingCancelled&) {
  return std::nullopt;
}

bool Peaks::disturbed() const {
  return std::any_of(kernels.begin(), kernels.end(), [](const PeakResult& result) {
    return (result.one && result.one->on_core < 0.95) || (result.all && result.all->on_core < 0.95);
  });
}

void merge_gemm(Peaks& peaks, const std::string& type, double flop_rate) {
  double& known = peaks.gemm[type];
  known = std::max(known, flop_rate);
}

std::optional<double> isa_roof(const Peaks& peaks, std::string_view type) {
  std::optional<double> roof;
  for (const PeakResult& result : peaks.kernels)
    if (result.type == type && result.all && (!roof || result.all->median > *roof)) roof = result.all->median;
  return roof;
}

std::optional<double> bandwidth_roof(const Peaks& peaks) {
  std::optional<double> roof;
  for (const PeakResult& result : peaks.kernels)
    if (result.kernel.starts_with("triad") && result.all && (!roof || result.all->median > *roof))
      roof = result.all->median;
  return roof;
}

}  // namespace tbd
