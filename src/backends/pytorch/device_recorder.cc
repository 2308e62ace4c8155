#include "backends/pytorch/device_recorder.h"

#include <c10/core/Device.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"

namespace tbd::pytorch {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;

std::set<ActivityType> activities_of(c10::DeviceType type) {
  if (type == c10::kCUDA) return {ActivityType::CUDA};
  if (type == c10::kCPU) return {ActivityType::CPU};
  fail(ErrorKind::unsupported, "no profiler of ", c10::DeviceTypeName(type), " devices");
}

// Kineto's metadata, which is left out unless asked for, has the shape of launches and the bytes of copies.
ProfilerConfig config() {
  torch::profiler::impl::ExperimentalConfig with_metadata;
  with_metadata.expose_kineto_event_metadata = true;
  return ProfilerConfig(ProfilerState::KINETO, /*report_input_shapes=*/false, /*profile_memory=*/false,
                        /*with_stack=*/false, /*with_flops=*/false, /*with_modules=*/false, std::move(with_metadata));
}

// Empty where this torch does not hand it out, or it cannot be read: then kernels have no launch shape.
template <class KinetoEvent>
Json metadata_of(const KinetoEvent& event) {
  if constexpr (requires { event.metadataJson(); }) {
    std::string text = event.metadataJson();
    if (!text.starts_with('{')) text = "{" + text + "}";
    Json metadata = Json::parse(text, nullptr, false);
    if (metadata.is_object()) return metadata;
  }
  return Json::object();
}

std::array<uint32_t, 3> extents(const Json& metadata, const char* key) {
  std::array<uint32_t, 3> out{};
  const auto found = metadata.find(key);
  if (found == metadata.end() || !found->is_array()) return out;
  for (size_t i = 0; i < std::min(out.size(), found->size()); ++i)
    if (const Json& extent = (*found)[i]; extent.is_number_integer() && fits<uint32_t>(extent)) out[i] = extent;
  return out;
}

int64_t amount(const Json& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() || !found->is_number_integer() ? 0 : found->get<int64_t>();
}

DeviceRecord record_of(const profiler::KinetoEvent& event, const ClockMap& clocks) {
  const int64_t begin = static_cast<int64_t>(event.startNs()), end = static_cast<int64_t>(event.endNs());
  DeviceRecord out = {.name = event.name(), .place = event.deviceResourceId(), .begin = clocks.raw_ns(begin)};
  out.duration = std::max<int64_t>(0, end - begin);
  out.link = static_cast<uint32_t>(event.correlationId());
  out.on_device = event.deviceType() != c10::kCPU;
  if (!out.on_device) return out;
  out.device = event.deviceIndex();
  const Json metadata = metadata_of(event);
  out.kernel = {.grid = extents(metadata, "grid"),
                .block = extents(metadata, "block"),
                .registers = static_cast<uint32_t>(amount(metadata, "registers per thread")),
                .shared = amount(metadata, "shared memory")};
  out.bytes = amount(metadata, "bytes");
  return out;
}

}  // namespace

DeviceRecorder::DeviceRecorder(c10::DeviceType type) : type_(type) {
  profiler::prepareProfiler(config(), activities_of(type_));
}

DeviceRecorder::~DeviceRecorder() {
  if (running_) profiler::disableProfiler();
}

void DeviceRecorder::start() {
  if (running_) return;
  // Once for each recording: a second one without it ended the process on a GPU.
  if (!ready_) profiler::prepareProfiler(config(), activities_of(type_));
  ready_ = false;
  clocks_.clear();
  clocks_.add(read_clocks());
  profiler::enableProfiler(config(), activities_of(type_), {at::RecordScope::FUNCTION});
  running_ = true;
}

std::vector<DeviceRecord> DeviceRecorder::stop() {
  if (!running_) return {};
  running_ = false;
  const auto result = profiler::disableProfiler();
  clocks_.add(read_clocks());
  std::vector<DeviceRecord> out;
  for (const profiler::KinetoEvent& event : result->events()) out.push_back(record_of(event, clocks_));
  std::ranges::stable_sort(out, {}, &DeviceRecord::begin);
  return out;
}

}  // namespace tbd::pytorch
