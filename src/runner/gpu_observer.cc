#include "runner/gpu_observer.h"

#include "base/files.h"
#include "base/json.h"
#include "measure/gpu/gpu_log.h"
#include "measure/gpu/visible_device.h"

namespace tbd {
namespace {

template <class T>
void add(Json& json, const char* key, const NvmlAnswer<T>& answer) {
  if (answer) json[key] = *answer;
}

}  // namespace

GpuObserver::GpuObserver(const Device& device, const std::map<std::string, std::string>& environment,
                         const std::string& library)
    : nvml_(library) {
  const auto found = nvml_device(nvml_, device, environment);
  refusal_ = found.reason();
  device_ = found.value();
  if (device_) watch_.emplace(*device_);
}

JsonValue GpuObserver::end(const StepSpan& steps, const std::set<int64_t>& own, const std::filesystem::path& folder) {
  if (!watch_) return Json{{"reason", refusal_}};
  const GpuSeries series = watch_->stop();
  Json gpu = Json::object();
  add(gpu, "name", device_->name());
  add(gpu, "uuid", device_->uuid());
  add(gpu, "driver", nvml_.driver_version());
  add(gpu, "cuda", nvml_.cuda_version());
  if (const auto memory = device_->memory()) gpu["memory_bytes"] = memory->total_bytes;
  if (!series.missing.empty()) gpu["missing"] = series.missing;
  if (!series.ended.empty()) gpu["ended"] = series.ended;
  if (const auto use = gpu_use(series, steps.begin_ns, steps.end_ns, own, steps.first_end_ns))
    gpu["use"] = to_json(*use);
  else
    gpu["reason"] = series.ended.empty() ? "the steps took too short a time to be sampled" : series.ended;
  write_file(folder / "gpu.csv", to_csv(series));
  return gpu;
}

}  // namespace tbd
