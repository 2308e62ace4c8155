#include "measure/gpu/gpu_log.h"

#include <utility>

#include "base/codec.h"

namespace tbd {

template <codec::Is<MeanAndPeak> T>
void fields(T& value, auto visit) {
  visit("mean", value.mean);
  visit("peak", value.peak);
}

template <codec::Is<GpuUse> T>
void fields(T& use, auto visit) {
  visit("sampled_s", use.sampled_s);
  visit("samples", use.samples);
  visit("util_gpu", use.util_gpu);
  visit("util_memory", use.util_memory);
  visit("memory_bytes", use.memory_bytes);
  visit("process_memory_bytes", use.process_memory_bytes);
  visit("sm_clock_mhz", use.sm_clock_mhz);
  visit("memory_clock_mhz", use.memory_clock_mhz);
  visit("power_w", use.power_w);
  visit("temperature_celsius", use.temperature_celsius);
  visit("energy_joules", use.energy_joules);
  visit("energy_from_power", use.energy_from_power);
  visit("clock_drift", use.clock_drift);
  visit("throttled_fraction", use.throttled_fraction);
  visit("throttle_reasons", use.throttle_reasons);
  visit("other_processes", use.other_processes);
  visit("flags", use.flags);
  visit("reasons", use.reasons);
}

Json to_json(const GpuUse& use) { return codec::write_fields<codec::JsonForm::message>(use); }

std::string to_csv(const GpuSeries& series) {
  std::string out =
      "time_ns,util_gpu,util_memory,memory_bytes,sm_clock_mhz,memory_clock_mhz,power_w,energy_joules,"
      "temperature_celsius,throttle_reasons,processes\n";
  const auto add = [&](const auto& value) {
    out += ',';
    if (value) out += cat(*value);
  };
  for (const GpuSample& sample : series.samples) {
    out += cat(sample.time_ns);
    add(sample.util_gpu);
    add(sample.util_memory);
    add(sample.memory_bytes);
    add(sample.sm_clock_mhz);
    add(sample.memory_clock_mhz);
    add(sample.power_w);
    add(sample.energy_joules);
    add(sample.temperature_celsius);
    add(sample.throttle_reasons);
    add(sample.processes ? std::optional(sample.processes->size()) : std::nullopt);
    out += '\n';
  }
  return out;
}

}  // namespace tbd
