#include "measure/gpu/visible_device.h"

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

NvmlAnswer<NvmlDevice> refused(std::string reason) {
  return NvmlRefusal{.fault = NvmlFault::other, .reason = std::move(reason)};
}

std::optional<std::string> value_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::nullopt : std::optional(found->second);
}

// By a UUID or the beginning of one.
NvmlAnswer<NvmlDevice> device_with_uuid(const Nvml& nvml, int64_t count, const std::string& uuid) {
  for (int64_t index = 0; index < count; ++index) {
    const auto device = nvml.device(index);
    const auto found = device ? device->uuid() : NvmlAnswer<std::string>(NvmlRefusal{});
    if (found && found->starts_with(uuid)) return device;
  }
  return refused(cat("the driver has no device ", uuid, " (CUDA_VISIBLE_DEVICES)"));
}

// Up to the first that cannot be one: an empty list, or one that begins with -1, hides all.
std::vector<std::string> visible_places(const std::string& visible) {
  std::vector<std::string> places;
  for (const std::string& each : split(visible, ',')) {
    const std::string place(trim(each));
    if (place.empty() || place.starts_with('-')) break;
    places.push_back(place);
  }
  return places;
}

}  // namespace

std::map<std::string, std::string> in_driver_order(std::map<std::string, std::string> environment) {
  environment.try_emplace("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  return environment;
}

NvmlAnswer<NvmlDevice> nvml_device(const Nvml& nvml, const Device& device,
                                   const std::map<std::string, std::string>& environment) {
  const auto count = nvml.device_count();
  if (!count) return NvmlRefusal{.fault = count.fault(), .reason = count.reason()};
  const int64_t number = device.gpu_number().value_or(-1);
  std::string place = cat(number);
  if (const auto visible = value_of(environment, "CUDA_VISIBLE_DEVICES")) {
    const std::vector<std::string> places = visible_places(*visible);
    if (number < 0 || static_cast<size_t>(number) >= places.size())
      return refused(cat(device, " is beyond CUDA_VISIBLE_DEVICES=", *visible));
    place = places[static_cast<size_t>(number)];
  }
  const std::optional<int64_t> index = parse_int(place);
  if (!index) return device_with_uuid(nvml, *count, place);
  if (*index < 0 || *index >= *count) return refused(cat(device, " is device ", *index, ", the driver has ", *count));
  if (*count > 1 && value_of(environment, "CUDA_DEVICE_ORDER") != "PCI_BUS_ID")
    return refused("CUDA numbers devices in an order of its own; CUDA_DEVICE_ORDER=PCI_BUS_ID is the driver's");
  return nvml.device(*index);
}

}  // namespace tbd
