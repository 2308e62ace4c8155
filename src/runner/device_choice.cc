#include "runner/device_choice.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "measure/gpu/visible_device.h"

namespace tbd {
namespace {

const Device kFirstGpu = Device::gpu(0);

bool is_open(const Workload& cell) { return cell.device.empty() || cell.device == Device::kAuto; }

DeviceChoice choice_for(const std::string& framework, const Nvml& nvml, const RunnerSettings& settings) {
  if (nvml.refusal().fault != NvmlFault::none) return choose_device(nvml, {});  // no worker need be asked
  try {
    return choose_device(nvml, capabilities(find_worker(settings.workers, framework), settings).devices,
                         settings.environment);
  } catch (const Error&) {
    return {.reason = "it has no worker that answers"};  // which its row will say in full
  }
}

}  // namespace

DeviceChoice choose_device(const Nvml& nvml, std::span<const Device> worker_devices,
                           const std::map<std::string, std::string>& environment) {
  const auto count = nvml.device_count();
  if (!count) return {.reason = cat("no NVIDIA driver answers: ", count.reason())};
  if (*count == 0) return {.reason = "the NVIDIA driver has no device"};
  const auto gpu = nvml_device(nvml, kFirstGpu, in_driver_order(environment));
  if (!gpu) return {.reason = cat("the first GPU does not answer: ", gpu.reason())};
  if (std::ranges::find(worker_devices, kFirstGpu) == worker_devices.end())
    return {.reason = "its worker cannot use the GPU of this machine"};
  const auto name = gpu->name();
  return {.device = kFirstGpu, .reason = cat(name ? *name : std::string("the GPU"), " answers")};
}

std::vector<Workload> with_devices(std::vector<Workload> cells, const RunnerSettings& settings) {
  for (const Workload& cell : cells)
    if (!cell.device.empty()) require_known(cell.device);
  if (std::ranges::none_of(cells, is_open)) return cells;
  const Nvml nvml(settings.gpu_library);
  std::map<std::string, DeviceChoice> choices;  // by framework
  std::vector<Workload> out;
  for (Workload& cell : cells) {
    if (is_open(cell)) {
      const auto [choice, is_new] = choices.try_emplace(cell.framework);
      if (is_new) {
        choice->second = choice_for(cell.framework, nvml, settings);
        const auto& [device, reason] = choice->second;
        const bool is_asked = !cell.device.empty();
        if (is_asked || nvml.refusal().fault != NvmlFault::no_library)
          settings.notice(cat("--device auto: ", cell.framework, " runs on ", device, "; ", reason));
      }
      cell.device = choice->second.device;
    }
    if (std::ranges::find(out, cell) == out.end()) out.push_back(std::move(cell));
  }
  return out;
}

std::string why_not_offered(const Device& device, const RunnerSettings& settings) {
  const Nvml nvml(settings.gpu_library);
  if (nvml.refusal().fault != NvmlFault::none) return cat("no NVIDIA driver answers: ", nvml.refusal().reason);
  const auto gpu = nvml_device(nvml, device, in_driver_order(settings.environment));
  if (!gpu) return gpu.reason();
  const auto name = gpu->name(), driver = nvml.driver_version(), cuda = nvml.cuda_version();
  std::string known;
  if (driver && cuda) known = cat(" (driver ", *driver, ", CUDA up to ", *cuda, ")");
  return cat(name ? *name : std::string("the GPU"), known,
             " answers, but the framework's libraries here do not use it: './tbd setup' fetches those that do");
}

}  // namespace tbd
