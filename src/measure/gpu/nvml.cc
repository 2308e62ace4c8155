// Each function of the library is declared once, by its name and the types of its parameters; NvmlFunctions looks it up
// when it is called and turns a missing function or an error code into a refusal.
#include "measure/gpu/nvml.h"

#include <array>
#include <type_traits>

#include "base/text.h"
#include "measure/gpu/nvml_abi.h"
#include "measure/gpu/shared_library.h"

namespace tbd {
namespace {

template <class... Parameters>
struct NvmlFunction {
  const char* name;
};
using OfDevice = nvml::Device;

constexpr NvmlFunction<> kInit{"nvmlInit_v2"};
constexpr NvmlFunction<> kShutdown{"nvmlShutdown"};
constexpr NvmlFunction<char*, unsigned> kDriverVersion{"nvmlSystemGetDriverVersion"};
constexpr NvmlFunction<int*> kCudaVersion{"nvmlSystemGetCudaDriverVersion_v2"};
constexpr NvmlFunction<unsigned*> kDeviceCount{"nvmlDeviceGetCount_v2"};
constexpr NvmlFunction<unsigned, nvml::Device*> kDeviceByIndex{"nvmlDeviceGetHandleByIndex_v2"};
constexpr NvmlFunction<OfDevice, char*, unsigned> kName{"nvmlDeviceGetName"};
constexpr NvmlFunction<OfDevice, char*, unsigned> kUuid{"nvmlDeviceGetUUID"};
constexpr NvmlFunction<OfDevice, nvml::PciInfo*> kPciInfo{"nvmlDeviceGetPciInfo_v3"};
constexpr NvmlFunction<OfDevice, nvml::MemoryInfo*> kMemoryInfo{"nvmlDeviceGetMemoryInfo"};
constexpr NvmlFunction<OfDevice, nvml::Utilization*> kUtilization{"nvmlDeviceGetUtilizationRates"};
constexpr NvmlFunction<OfDevice, int, unsigned*> kClock{"nvmlDeviceGetClockInfo"};
constexpr NvmlFunction<OfDevice, int, unsigned*> kMaxClock{"nvmlDeviceGetMaxClockInfo"};
constexpr NvmlFunction<OfDevice, unsigned*> kPowerUsage{"nvmlDeviceGetPowerUsage"};
constexpr NvmlFunction<OfDevice, unsigned*> kPowerLimit{"nvmlDeviceGetEnforcedPowerLimit"};
constexpr NvmlFunction<OfDevice, unsigned long long*> kEnergy{"nvmlDeviceGetTotalEnergyConsumption"};
constexpr NvmlFunction<OfDevice, int, unsigned*> kTemperature{"nvmlDeviceGetTemperature"};
constexpr NvmlFunction<OfDevice, unsigned long long*> kThrottleReasons{"nvmlDeviceGetCurrentClocksThrottleReasons"};
constexpr NvmlFunction<OfDevice, int*> kPersistence{"nvmlDeviceGetPersistenceMode"};
constexpr NvmlFunction<OfDevice, unsigned*, unsigned*> kMigMode{"nvmlDeviceGetMigMode"};
constexpr NvmlFunction<OfDevice, int*, int*> kEccMode{"nvmlDeviceGetEccMode"};
constexpr NvmlFunction<OfDevice, unsigned*, nvml::Process*> kProcesses{"nvmlDeviceGetComputeRunningProcesses_v3"};

NvmlFault fault_of(int code) {
  switch (code) {
    case nvml::kSuccess:
      return NvmlFault::none;
    case nvml::kNotSupported:
      return NvmlFault::not_supported;
    case nvml::kNoPermission:
      return NvmlFault::not_permitted;
    case nvml::kDriverNotLoaded:
      return NvmlFault::no_driver;
    case nvml::kGpuIsLost:
      return NvmlFault::lost;
    case nvml::kOperatingSystem:
      return NvmlFault::blocked;
    case nvml::kVersionMismatch:
      return NvmlFault::version_mismatch;
    default:
      return NvmlFault::other;
  }
}

// Empty for faults that the library names better.
std::string_view clause(NvmlFault fault) {
  switch (fault) {
    case NvmlFault::no_driver:
      return "no driver answers";
    case NvmlFault::not_permitted:
      return "this user has no permission";
    case NvmlFault::blocked:
      return "the system keeps the device closed";
    case NvmlFault::version_mismatch:
      return "the library and the loaded driver are of different versions";
    case NvmlFault::not_supported:
      return "the device does not report it";
    case NvmlFault::lost:
      return "the device has fallen off the bus";
    default:
      return "";
  }
}

}  // namespace

class NvmlFunctions {
 public:
  explicit NvmlFunctions(const std::string& library) : library_(library) {}

  template <class... Parameters>
  NvmlRefusal call(NvmlFunction<Parameters...> function, std::type_identity_t<Parameters>... arguments) const {
    if (!library_.reason().empty()) return {NvmlFault::no_library, library_.reason()};
    const auto found = library_.function<int (*)(Parameters...)>(function.name);
    if (!found) return {NvmlFault::no_function, cat(library_.name(), " has no ", function.name)};
    return refusal_of_code(found(arguments...), function.name);
  }

  // A number that a function writes through its last parameter, behind `arguments`.
  template <class Number, class Function, class... Arguments>
  NvmlAnswer<Number> number(Function function, Arguments... arguments) const {
    Number written{};
    NvmlRefusal refusal = call(function, arguments..., &written);
    if (refusal.fault != NvmlFault::none) return refusal;
    return written;
  }

  template <unsigned length, class Function, class... Arguments>
  NvmlAnswer<std::string> text(Function function, Arguments... arguments) const {
    std::array<char, length> written{};
    NvmlRefusal refusal = call(function, arguments..., written.data(), length - 1);
    if (refusal.fault != NvmlFault::none) return refusal;
    return std::string(written.data());
  }

 private:
  NvmlRefusal refusal_of_code(int code, const char* function) const {
    if (code == nvml::kSuccess) return {};
    const NvmlFault fault = fault_of(code);
    const std::string_view known = clause(fault);
    return {fault, cat(known.empty() ? words(code) : std::string(known), " (", function, ")")};
  }

  std::string words(int code) const {
    const auto found = library_.function<const char* (*)(int)>("nvmlErrorString");
    const char* const text = found ? found(code) : nullptr;
    return text ? text : cat("error ", code);
  }

  SharedLibrary library_;
};

namespace {

template <class To, class From, class Convert>
NvmlAnswer<To> converted(const NvmlAnswer<From>& from, Convert convert) {
  if (!from) return NvmlRefusal{from.fault(), from.reason()};
  return To(convert(*from));
}

NvmlAnswer<int64_t> whole(const NvmlAnswer<unsigned>& from) {
  return converted<int64_t>(from, [](unsigned number) { return number; });
}

NvmlAnswer<double> from_thousandths(const NvmlAnswer<unsigned>& from) {
  return converted<double>(from, [](unsigned number) { return number / 1e3; });
}

// What a function says of a mode: as it is, and as it will be after the next reset.
template <class Mode, class Function>
NvmlAnswer<bool> current_mode(const NvmlFunctions& functions, Function function, OfDevice device) {
  Mode current{}, pending{};
  NvmlRefusal refusal = functions.call(function, device, &current, &pending);
  if (refusal.fault != NvmlFault::none) return refusal;
  return current != 0;
}

OfDevice device_of(void* handle) { return static_cast<OfDevice>(handle); }

}  // namespace

std::vector<std::string> throttle_names(uint64_t reasons) {
  constexpr std::pair<uint64_t, const char*> kNames[] = {{kGpuIdle, "idle"},
                                                         {kClocksSetByUser, "clocks set by a person"},
                                                         {kPowerCap, "power cap"},
                                                         {kHardwareSlowdown, "hardware slowdown"},
                                                         {kSyncBoost, "sync boost"},
                                                         {kThermalSlowdown, "thermal slowdown"},
                                                         {kHardwareThermalSlowdown, "hardware thermal slowdown"},
                                                         {kPowerBrake, "power brake"},
                                                         {kDisplayClocks, "display clocks"},
                                                         {kBoardLimit, "board limit"},
                                                         {kReliability, "reliability limit"}};
  std::vector<std::string> names;
  for (uint64_t bit = 1; bit != 0; bit <<= 1) {
    if ((reasons & bit) == 0) continue;
    std::string name = cat("reason ", bit);
    for (const auto& [known, words] : kNames)
      if (known == bit) name = words;
    names.push_back(std::move(name));
  }
  return names;
}

NvmlAnswer<std::string> NvmlDevice::name() const {
  return functions_->text<nvml::kNameLength>(kName, device_of(handle_));
}

NvmlAnswer<std::string> NvmlDevice::uuid() const {
  return functions_->text<nvml::kUuidLength>(kUuid, device_of(handle_));
}

NvmlAnswer<std::string> NvmlDevice::pci_bus_id() const {
  const auto info = functions_->number<nvml::PciInfo>(kPciInfo, device_of(handle_));
  return converted<std::string>(info, [](const nvml::PciInfo& pci) { return std::string(pci.bus_id); });
}

NvmlAnswer<GpuMemory> NvmlDevice::memory() const {
  const auto info = functions_->number<nvml::MemoryInfo>(kMemoryInfo, device_of(handle_));
  return converted<GpuMemory>(info, [](const nvml::MemoryInfo& memory) {
    return GpuMemory{static_cast<int64_t>(memory.total), static_cast<int64_t>(memory.used)};
  });
}

NvmlAnswer<GpuUtilization> NvmlDevice::utilization() const {
  const auto rates = functions_->number<nvml::Utilization>(kUtilization, device_of(handle_));
  return converted<GpuUtilization>(rates, [](const nvml::Utilization& percent) {
    return GpuUtilization{percent.gpu / 100.0, percent.memory / 100.0};
  });
}

NvmlAnswer<int64_t> NvmlDevice::sm_clock_mhz() const {
  return whole(functions_->number<unsigned>(kClock, device_of(handle_), nvml::kClockSm));
}

NvmlAnswer<int64_t> NvmlDevice::memory_clock_mhz() const {
  return whole(functions_->number<unsigned>(kClock, device_of(handle_), nvml::kClockMemory));
}

NvmlAnswer<int64_t> NvmlDevice::max_sm_clock_mhz() const {
  return whole(functions_->number<unsigned>(kMaxClock, device_of(handle_), nvml::kClockSm));
}

NvmlAnswer<int64_t> NvmlDevice::max_memory_clock_mhz() const {
  return whole(functions_->number<unsigned>(kMaxClock, device_of(handle_), nvml::kClockMemory));
}

NvmlAnswer<double> NvmlDevice::power_w() const {
  return from_thousandths(functions_->number<unsigned>(kPowerUsage, device_of(handle_)));
}

NvmlAnswer<double> NvmlDevice::power_limit_w() const {
  return from_thousandths(functions_->number<unsigned>(kPowerLimit, device_of(handle_)));
}

NvmlAnswer<double> NvmlDevice::energy_joules() const {
  const auto millijoules = functions_->number<unsigned long long>(kEnergy, device_of(handle_));
  return converted<double>(millijoules, [](unsigned long long mj) { return static_cast<double>(mj) / 1e3; });
}

NvmlAnswer<int64_t> NvmlDevice::temperature_celsius() const {
  return whole(functions_->number<unsigned>(kTemperature, device_of(handle_), nvml::kSensorOfGpu));
}

NvmlAnswer<uint64_t> NvmlDevice::throttle_reasons() const {
  const auto bits = functions_->number<unsigned long long>(kThrottleReasons, device_of(handle_));
  return converted<uint64_t>(bits, [](unsigned long long all) { return all; });
}

NvmlAnswer<bool> NvmlDevice::persistence() const {
  return converted<bool>(functions_->number<int>(kPersistence, device_of(handle_)), [](int on) { return on != 0; });
}

NvmlAnswer<bool> NvmlDevice::mig() const { return current_mode<unsigned>(*functions_, kMigMode, device_of(handle_)); }

NvmlAnswer<bool> NvmlDevice::ecc() const { return current_mode<int>(*functions_, kEccMode, device_of(handle_)); }

NvmlAnswer<std::vector<GpuProcess>> NvmlDevice::compute_processes() const {
  std::array<nvml::Process, 256> listed{};  // of more, none: the library then wants more room and lists nothing
  auto count = static_cast<unsigned>(listed.size());
  NvmlRefusal refusal = functions_->call(kProcesses, device_of(handle_), &count, listed.data());
  if (refusal.fault != NvmlFault::none) return refusal;
  std::vector<GpuProcess> processes;
  for (unsigned i = 0; i < count; ++i) {
    GpuProcess process{.pid = listed[i].pid};
    if (listed[i].used_memory != nvml::kMemoryUnknown) process.used_bytes = static_cast<int64_t>(listed[i].used_memory);
    processes.push_back(process);
  }
  return processes;
}

Nvml::Nvml(const std::string& library) : functions_(std::make_unique<const NvmlFunctions>(library)) {
  refusal_ = functions_->call(kInit);
}

Nvml::~Nvml() {
  if (refusal_.fault == NvmlFault::none) functions_->call(kShutdown);
}

NvmlAnswer<std::string> Nvml::driver_version() const {
  if (refusal_.fault != NvmlFault::none) return refusal_;
  return functions_->text<nvml::kVersionLength>(kDriverVersion);
}

NvmlAnswer<std::string> Nvml::cuda_version() const {
  if (refusal_.fault != NvmlFault::none) return refusal_;
  const auto number = functions_->number<int>(kCudaVersion);  // 1000 * major + 10 * minor
  return converted<std::string>(number, [](int version) { return cat(version / 1000, ".", version % 1000 / 10); });
}

NvmlAnswer<int64_t> Nvml::device_count() const {
  if (refusal_.fault != NvmlFault::none) return refusal_;
  return whole(functions_->number<unsigned>(kDeviceCount));
}

NvmlAnswer<NvmlDevice> Nvml::device(int64_t index) const {
  if (refusal_.fault != NvmlFault::none) return refusal_;
  const auto handle = functions_->number<nvml::Device>(kDeviceByIndex, static_cast<unsigned>(index));
  return converted<NvmlDevice>(handle, [&](nvml::Device device) { return NvmlDevice(*functions_, device); });
}

}  // namespace tbd
