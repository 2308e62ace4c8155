#include "trace/names.h"

#include <algorithm>
#include <array>
#include <span>

namespace tbd {
namespace {

bool begins_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}
bool holds_any(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

constexpr std::array<std::string_view, 10> kCollectiveKernels = {
    "ncclDevKernel",   "ncclKernel", "ncclSymk",
    "msccl",           "mscclpp",    "nvshmem",
    "oneccl_",         "rcclKernel", "void vllm::cross_device_reduce",
    "ncclSymDevKernel"};
constexpr std::array<std::string_view, 2> kCollectiveParts = {"nccl:", "oneCCL"};
constexpr std::array<std::string_view, 2> kSteps = {"ProfilerStep#", "ProfilerStep "};
constexpr std::array<std::string_view, 4> kInputs = {"enumerate(DataLoader)", "DataLoader", "IteratorGetNext",
                                                     "Iterator::"};
constexpr std::array<std::string_view, 14> kSyncs = {
    "cudaDeviceSynchronize", "cudaStreamSynchronize",  "cudaEventSynchronize",      "cuCtxSynchronize",
    "cuStreamSynchronize",   "cuEventSynchronize",     "hipDeviceSynchronize",      "hipStreamSynchronize",
    "hipEventSynchronize",   "zeEventHostSynchronize", "zeCommandQueueSynchronize", "cudaThreadSynchronize",
    "cudaEventQuery",        "zeFenceHostSynchronize"};
constexpr std::array<std::string_view, 3> kUpdates = {"Optimizer.step", "Optimizer.zero_grad", "aten::_fused_"};

}  // namespace

bool is_collective_kernel(std::string_view name) {
  return begins_with_any(name, kCollectiveKernels) || holds_any(name, kCollectiveParts);
}
CopyDirection copy_direction(std::string_view name) {
  const auto holds = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (holds("HtoD") || holds("HostToDevice") || holds("Host -> Device")) return CopyDirection::to_device;
  if (holds("DtoH") || holds("DeviceToHost") || holds("Device -> Host")) return CopyDirection::to_host;
  if (holds("DtoD") || holds("DeviceToDevice")) return CopyDirection::on_device;
  if (holds("HtoH") || holds("HostToHost")) return CopyDirection::on_host;
  if (holds("PtoP")) return CopyDirection::between_devices;
  return CopyDirection::unknown;
}
bool is_step(std::string_view name) { return begins_with_any(name, kSteps); }
bool is_input(std::string_view name) { return begins_with_any(name, kInputs); }
bool is_sync_call(std::string_view name) { return begins_with_any(name, kSyncs); }
EventPhase phase_of(std::string_view name) {
  return begins_with_any(name, kUpdates) ? EventPhase::update
         : is_input(name)                ? EventPhase::input
                                         : EventPhase::unknown;
}

}  // namespace tbd
