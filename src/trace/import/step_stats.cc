#include "trace/import/step_stats.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "trace/import/step_stats_message.h"
#include "trace/import/wire.h"
#include "trace/names.h"

namespace tbd {
namespace {

int64_t number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = text.substr(at + word.size());
  return parse_int(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(-1);
}

bool is_stream(const StepStatsDevice& device) { return device.name.find("/stream:") != std::string_view::npos; }
bool is_all_streams(const StepStatsDevice& device) { return device.name.find("/stream:all") != std::string_view::npos; }

class StepStatsImport {
 public:
  StepStatsImport(std::string_view whole, Trace& trace) : whole_(whole), trace_(trace) {}
  void add(const StepStatsDevice& device) {
    for (const std::string_view message : device.nodes) {
      try {
        add(device, step_stats_node(message));
      } catch (const WireError& e) {
        trace_.fault("malformed events, passed over", e.place_in(whole_));
      }
    }
  }

 private:
  Track track_of(const StepStatsDevice& device, const StepStatsNode& node) {
    Track track{.name = trace_.string(device.name)};
    if (!is_stream(device)) {
      track.thread = node.thread;
      return track;
    }
    track.place = Track::Place::device;
    track.device = static_cast<int32_t>(std::max<int64_t>(0, number_after(device.name, "device:GPU:")));
    track.thread = number_after(device.name, "/stream:");
    return track;
  }
  void add(const StepStatsDevice& device, const StepStatsNode& node) {
    const auto begin = node.begin(), end = node.end();
    if (!begin || !end || *end < *begin) return trace_.fault("negative durations, not used", node.name);
    if (*begin < 0) return trace_.fault("events beyond the range of time", node.name);
    if (*begin == 0 && *end == 0) return trace_.fault("records with zero stamps, not used", node.name);
    const TrackId track = trace_.track(track_of(device, node));
    const std::string_view type = op_type(node.label);
    Event event{.begin = *begin, .duration = *end - *begin, .track = track};
    event.name = trace_.string(type.empty() ? node.name : type);
    if (is_stream(device)) {
      fill_device_event(event, node);
    } else {
      event.detail = trace_.detail(OpDetail{.node = trace_.string(node.name)});
      event.kind = node.name.starts_with("gradient") ? EventKind::backward_op : EventKind::op;
    }
    trace_.add(event);
    for (const StepStatsAllocation& record : node.allocations) add(record, node, track);
  }
  void fill_device_event(Event& event, const StepStatsNode& node) {
    const std::string_view name = trace_.strings()[event.name];
    const bool copy = name.starts_with("MEMCPY") || name.starts_with("Memcpy");
    event.kind = copy ? EventKind::memcpy : is_collective_kernel(name) ? EventKind::collective : EventKind::kernel;
    if (event.kind == EventKind::kernel) event.detail = trace_.detail(KernelDetail{.node = trace_.string(node.name)});
  }
  void add(const StepStatsAllocation& record, const StepStatsNode& node, TrackId track) {
    const auto at = checked_time(record.at_us, 0, 1000);
    if (!at || record.bytes == INT64_MIN) return trace_.fault("allocations of impossible size or time", node.name);
    const bool freed = record.bytes < 0;
    trace_.add({.begin = *at,
                .name = trace_.string(node.name),
                .detail = trace_.detail(
                    MemoryDetail{.bytes = freed ? -record.bytes : record.bytes, .tag = trace_.string(node.name)}),
                .track = track,
                .kind = freed ? EventKind::free : EventKind::alloc});
  }

  std::string_view whole_;
  Trace& trace_;
};

}  // namespace

void import_step_stats(std::string_view message, Trace& trace) {
  std::vector<StepStatsDevice> devices;
  try {
    add_step_stats_devices(message, devices);
  } catch (const WireError& e) {
    if (devices.empty()) fail(ErrorKind::invalid, e.place_in(message));
    trace.fault("malformed, the rest was not read", e.place_in(message));
  }
  require(!devices.empty(), "no step statistics in it");
  bool numbered = false;
  for (const StepStatsDevice& device : devices) numbered = numbered || (is_stream(device) && !is_all_streams(device));
  StepStatsImport import(message, trace);
  for (const StepStatsDevice& device : devices)
    if (!numbered || !is_all_streams(device)) import.add(device);
}

void import_step_stats(ByteSource& source, Trace& trace) { import_step_stats(read_message(source), trace); }

}  // namespace tbd
