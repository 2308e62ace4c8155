#include "backends/pytorch/device_events.h"

#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "trace/names.h"

namespace tbd::pytorch {
namespace {

EventKind kind_of(const DeviceRecord& record) {
  const std::string_view name = record.name;
  if (record.on_device) {
    if (is_collective_kernel(name)) return EventKind::collective;
    if (name.starts_with("Memcpy")) return EventKind::memcpy;
    return name.starts_with("Memset") ? EventKind::memset : EventKind::kernel;
  }
  if (is_sync_call(name)) return EventKind::sync;
  constexpr std::string_view kNamelessCall = "INVALID";  // newer than Kineto's list of the runtime's calls
  const bool called = name.starts_with("cu") || name.starts_with("hip") || name == kNamelessCall;
  return called ? EventKind::api : EventKind::overhead;
}

class DeviceAppender {
 public:
  DeviceAppender(Trace& trace, const std::vector<std::string>& node_names) : trace_(trace), node_names_(node_names) {}

  void add(const DeviceRecord& record, const OpRecord* op) {
    const EventKind kind = kind_of(record);
    trace_.add({.begin = record.begin,
                .duration = record.duration,
                .name = trace_.string(record.name),
                .link = record.link,
                .detail = detail(record, kind, op),
                .track = track(record),
                .kind = kind,
                .phase = op ? op->phase : EventPhase::unknown});
  }

 private:
  TrackId track(const DeviceRecord& record) {
    if (!record.on_device) return trace_.track({.process = getpid(), .thread = record.place});
    return trace_.track({.place = Track::Place::device,
                         .device = record.device,
                         .process = getpid(),
                         .thread = record.place,
                         .name = trace_.string(cat("stream ", record.place))});
  }
  uint32_t detail(const DeviceRecord& record, EventKind kind, const OpRecord* op) {
    if (kind == EventKind::memcpy || kind == EventKind::memset)
      return trace_.detail(CopyDetail{.bytes = record.bytes, .direction = copy_direction(record.name)});
    if (kind != EventKind::kernel) return kNoDetail;
    KernelDetail kernel = record.kernel;
    if (op && op->node >= 0) kernel.node = trace_.string(node_names_[static_cast<size_t>(op->node)]);
    return trace_.detail(kernel);
  }

  Trace& trace_;
  const std::vector<std::string>& node_names_;
};

}  // namespace

OpFinder::OpFinder(const OpTape& tape) : records_(tape.records()), outer_(records_.size(), kNone) {
  std::vector<size_t> open;
  for (size_t i = 0; i < records_.size(); ++i) {
    while (!open.empty() && records_[open.back()].end <= records_[i].begin) open.pop_back();
    if (!open.empty()) outer_[i] = open.back();
    open.push_back(i);
  }
}

const OpRecord* OpFinder::at(int64_t time) const {
  const auto after = std::ranges::upper_bound(records_, time, {}, &OpRecord::begin);
  size_t i = after == records_.begin() ? kNone : static_cast<size_t>(after - records_.begin()) - 1;
  while (i != kNone && records_[i].end <= time) i = outer_[i];
  return i == kNone ? nullptr : &records_[i];
}

void append_device_events(Trace& trace, std::span<const DeviceRecord> records, const OpAt& op_at,
                          const std::vector<std::string>& node_names) {
  std::unordered_map<uint32_t, const OpRecord*> callers;  // by link
  for (const DeviceRecord& record : records)
    if (!record.on_device && record.link != 0) callers[record.link] = op_at(record.place, record.begin);
  DeviceAppender appender(trace, node_names);
  for (const DeviceRecord& record : records) {
    const auto caller = callers.find(record.on_device ? record.link : 0);
    appender.add(record, caller == callers.end() ? nullptr : caller->second);
  }
}

}  // namespace tbd::pytorch
