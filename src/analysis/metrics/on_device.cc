// What the driver said of the GPU while the steps ran: launch.json's gpu.use (docs/record.md, gpu.csv).
#include <algorithm>

#include "analysis/metric_parts.h"
#include "base/json.h"

namespace tbd {
namespace {

enum class Of { mean, peak };

// launch.json: gpu.use.<key>.<mean or peak>.
std::optional<double> sampled(const LaunchView& launch, const char* key, Of of) {
  const Json* use = gpu_use_of(launch.launch->info);
  if (!use || !use->contains(key) || !(*use)[key].is_object()) return std::nullopt;
  return maybe<double>((*use)[key], of == Of::mean ? "mean" : "peak");
}

Measured not_sampled(const RunView& run) {
  if (!on_gpu(run.workload())) return absent("the workload ran on no GPU");
  for (const LaunchView& launch : run.launches)
    if (const auto& gpu = launch.launch->info.gpu; gpu && (*gpu)->is_object())
      if (const auto reason = maybe<std::string>(**gpu, "reason")) return absent(*reason);
  return absent("the driver does not report it");
}

Measured over_launches(const RunView& run, const char* key, Of of) {
  std::vector<double> values;
  for (const LaunchView& launch : run.launches)
    if (const auto value = sampled(launch, key, of)) values.push_back(*value);
  if (values.empty() || values.size() < run.launches.size()) return not_sampled(run);
  if (of == Of::peak) return {.value = std::ranges::max(values)};
  double sum = 0;
  for (const double value : values) sum += value;
  return {.value = sum / static_cast<double>(values.size())};
}

Measured utilization(const RunView& run) { return over_launches(run, "util_gpu", Of::mean); }
Measured memory(const RunView& run) { return over_launches(run, "memory_bytes", Of::peak); }
Measured mean_power(const RunView& run) { return over_launches(run, "power_w", Of::mean); }
Measured sm_clock(const RunView& run) { return over_launches(run, "sm_clock_mhz", Of::mean); }

// Of the steps' time, what lay between the first and the last work of each on the device.
Measured device_share(const RunView& run) {
  if (!on_gpu(run.workload())) return absent("the workload ran on no GPU");
  double on_device = 0, whole = 0;
  for (const LaunchView& launch : run.launches) {
    const std::span<const StepRow> rows = launch.window();
    for (const StepRow& row : rows) {
      if (!row.device_ns) return absent("the framework does not time steps by the device's clock");
      on_device += 1e-9 * static_cast<double>(*row.device_ns);
    }
    whole += launch.seconds();
  }
  if (!(whole > 0)) return not_measured();
  return {.value = on_device / whole};
}

void gpu_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches)
    for (const auto& [what, key, unit] :
         {std::tuple{"GPU utilization, mean", "util_gpu", ""},
          std::tuple{"device memory in use, mean", "memory_bytes", "B"}, std::tuple{"power, mean", "power_w", "W"},
          std::tuple{"SM clock, mean", "sm_clock_mhz", "MHz"}})
      facts.push_back(
          {what, known(sampled(launch, key, Of::mean)), unit, launch_file(launch, cat("launch.json: gpu.use.", key))});
}

void device_share_facts(const RunView& run, Facts& facts) {
  add_totals(run, facts);
  add_column("time on the device", "ns", &StepRow::device_ns, run, facts);
}

constexpr std::string_view kSamples =
    "On a GPU: NVML, ten times a second from the end of the first step to that of the last.";

constexpr Metric kGpuMetrics[] = {
    {.id = "gpu_utilization",
     .title = "GPU utilization",
     .group = MetricGroup::processor,
     .unit = Unit::fraction,
     .what = "Share of the time in which a kernel ran on the GPU, as its driver counts.",
     .formula = "mean over samples of NVML's utilization",
     .counts = "Any kernel of any process, on however few multiprocessors.",
     .how = kSamples,
     .limits = "One busy multiprocessor counts as all: a high figure is no proof of good use.",
     .applies = on_gpu,
     .inputs = gpu_facts,
     .compute = utilization},
    {.id = "device_share",
     .title = "share on the device",
     .group = MetricGroup::processor,
     .unit = Unit::fraction,
     .what = "Share of the steps' time between the first and the last work of a step on the GPU.",
     .formula = "sum of device_ns / sum of step times",
     .counts = "Gaps between kernels of a step as well.",
     .how = "On a GPU: events of the framework around each step, on the device's own clock.",
     .limits = "Above 1 the device's clock and the host's disagree.",
     .applies = on_gpu,
     .inputs = device_share_facts,
     .compute = device_share},
    {.id = "gpu_memory_bytes",
     .title = "GPU memory",
     .group = MetricGroup::memory,
     .unit = Unit::bytes,
     .unit_text = "B",
     .what = "Most device memory in use at once, of any launch.",
     .formula = "max over samples",
     .counts = "All processes and the driver: contexts, workspaces, what the framework keeps.",
     .how = "On a GPU: NVML, ten times a second from the begin of the first step to the end of the last.",
     .limits = "Peaks shorter than 0.1 s can be missed; the allocator's peak is exact.",
     .applies = on_gpu,
     .inputs = gpu_facts,
     .compute = memory},
    {.id = "gpu_power",
     .title = "GPU power",
     .group = MetricGroup::energy,
     .unit = Unit::none,
     .unit_text = "W",
     .what = "Mean power of the board during the steps.",
     .formula = "mean over samples",
     .counts = "The whole board, idle power included.",
     .how = kSamples,
     .limits = "The board's own meter, which averages over up to a second.",
     .applies = on_gpu,
     .inputs = gpu_facts,
     .compute = mean_power},
    {.id = "gpu_clock",
     .title = "SM clock",
     .group = MetricGroup::processor,
     .unit = Unit::none,
     .unit_text = "MHz",
     .what = "Mean clock of the multiprocessors during the steps.",
     .formula = "mean over samples",
     .counts = "Samples without work, too.",
     .how = kSamples,
     .limits = "A drift is flagged: see clock-drift.",
     .applies = on_gpu,
     .inputs = gpu_facts,
     .compute = sm_clock},
};

}  // namespace

std::span<const Metric> on_device_metrics() { return kGpuMetrics; }

}  // namespace tbd
