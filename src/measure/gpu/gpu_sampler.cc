#include "measure/gpu/gpu_sampler.h"

#include "measure/clock.h"

namespace tbd {
namespace {

constexpr int64_t kProcessPeriodNs = 1'000'000'000;

// Answers on their way into a sample: a refusal is noted under the field's name, the loss of the device apart.
class AnswerSheet {
 public:
  explicit AnswerSheet(GpuSeries& series) : series_(series) {}

  template <class T>
  std::optional<T> value(const char* field, const NvmlAnswer<T>& answer) {
    if (answer) return *answer;
    if (answer.fault() == NvmlFault::lost) series_.ended = answer.reason();
    series_.missing.try_emplace(field, answer.reason());
    return std::nullopt;
  }

 private:
  GpuSeries& series_;
};

}  // namespace

bool GpuSampler::sample() {
  if (!series_.ended.empty()) return false;
  GpuSample sample{.time_ns = now_ns()};
  AnswerSheet sheet(series_);
  sample.energy_joules = sheet.value("energy_joules", device_.energy_joules());  // first: nearest to the stamp
  sample.power_w = sheet.value("power_w", device_.power_w());
  if (const auto utilization = sheet.value("utilization", device_.utilization())) {
    sample.util_gpu = utilization->gpu;
    sample.util_memory = utilization->memory;
  }
  if (const auto memory = sheet.value("memory_bytes", device_.memory())) sample.memory_bytes = memory->used_bytes;
  sample.sm_clock_mhz = sheet.value("sm_clock_mhz", device_.sm_clock_mhz());
  sample.memory_clock_mhz = sheet.value("memory_clock_mhz", device_.memory_clock_mhz());
  sample.temperature_celsius = sheet.value("temperature_celsius", device_.temperature_celsius());
  sample.throttle_reasons = sheet.value("throttle_reasons", device_.throttle_reasons());
  if (processes_read_ns_ == 0 || sample.time_ns - processes_read_ns_ >= kProcessPeriodNs) {
    sample.processes = sheet.value("processes", device_.compute_processes());
    processes_read_ns_ = sample.time_ns;
  }
  if (!series_.ended.empty()) return false;  // half a sample is none
  series_.samples.push_back(std::move(sample));
  return true;
}

GpuWatch::GpuWatch(const NvmlDevice& device, std::chrono::milliseconds period)
    : sampler_(device), thread_([this, period](const std::stop_token& stop) { watch(stop, period); }) {}

GpuSeries GpuWatch::stop() {
  thread_.request_stop();
  thread_.join();
  sampler_.sample();
  return sampler_.take();
}

void GpuWatch::watch(const std::stop_token& stop, std::chrono::milliseconds period) {
  auto next = std::chrono::steady_clock::now();
  while (!stop.stop_requested() && sampler_.sample()) {
    next += period;
    std::unique_lock lock(mutex_);
    woken_.wait_until(lock, stop, next, [] { return false; });
  }
}

}  // namespace tbd
