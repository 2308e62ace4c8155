#include "trace/import/step_stats.h"

#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "trace/import/wire.h"
#include "trace/names.h"

namespace tbd {
namespace {

using Type = WireField::Type;

struct AllocationRecord {
  int64_t at_us = 0, bytes = 0;
};

// tensorflow.NodeExecStats
struct Node {
  std::string_view name, label;
  int64_t all_start_us = 0, op_start_us = 0, op_end_us = 0;
  int64_t all_start_ns = 0, op_start_ns = 0, op_end_ns = 0;
  int64_t thread = 0;
  std::vector<AllocationRecord> allocations;

  // Nanoseconds where the writer knew them.
  bool is_fine() const { return all_start_ns != 0; }
  std::optional<int64_t> begin() const {
    return is_fine() ? sum(all_start_ns, op_start_ns, 1) : sum(all_start_us, op_start_us, 1000);
  }
  std::optional<int64_t> end() const {
    return is_fine() ? sum(all_start_ns, op_end_ns, 1) : sum(all_start_us, op_end_us, 1000);
  }
  static std::optional<int64_t> sum(int64_t start, int64_t relative, int64_t unit) {
    int64_t total = 0;
    if (__builtin_add_overflow(start, relative, &total) || __builtin_mul_overflow(total, unit, &total))
      return std::nullopt;
    return total;
  }
};

AllocationRecord allocation_of(std::string_view message) {
  AllocationRecord record;
  WireReader in(message);
  for (WireField field; in.next(field);) {
    if (field.number == 1) record.at_us = field.integer();
    if (field.number == 2) record.bytes = field.integer();
  }
  return record;
}

void read_allocator(std::string_view message, Node& node) {
  WireReader in(message);
  for (WireField field; in.next(field);)
    if (field.number == 6 && field.type == Type::bytes) node.allocations.push_back(allocation_of(field.bytes));
}

Node node_of(std::string_view message) {
  Node node;
  WireReader in(message);
  for (WireField field; in.next(field);) {
    switch (field.number) {
      case 1:
        node.name = field.bytes;
        break;
      case 2:
        node.all_start_us = field.integer();
        break;
      case 3:
        node.op_start_us = field.integer();
        break;
      case 4:
        node.op_end_us = field.integer();
        break;
      case 6:
        read_allocator(field.bytes, node);
        break;
      case 8:
        node.label = field.bytes;
        break;
      case 10:
        node.thread = field.integer();
        break;
      case 13:
        node.all_start_ns = field.integer();
        break;
      case 14:
        node.op_start_ns = field.integer();
        break;
      case 15:
        node.op_end_ns = field.integer();
        break;
    }
  }
  return node;
}

// "conv1 = Conv2D(x, w)" -> "Conv2D"; empty where the label says no type.
std::string_view op_type(std::string_view label) {
  const size_t equals = label.find(" = ");
  const size_t open = equals == std::string_view::npos ? equals : label.find('(', equals);
  if (open == std::string_view::npos) return {};
  return label.substr(equals + 3, open - equals - 3);
}

int64_t number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = text.substr(at + word.size());
  return parse_int(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(-1);
}

struct Device {
  std::string_view name;
  std::vector<std::string_view> nodes;
  bool is_stream() const { return name.find("/stream:") != std::string_view::npos; }
  bool is_all_streams() const { return name.find("/stream:all") != std::string_view::npos; }
};

Device device_of(std::string_view message) {
  Device device;
  WireReader in(message);
  for (WireField field; in.next(field);) {
    if (field.type != Type::bytes) continue;
    if (field.number == 1) device.name = field.bytes;
    if (field.number == 2) device.nodes.push_back(field.bytes);
  }
  return device;
}

class StepStatsImport {
 public:
  StepStatsImport(std::string_view whole, Trace& trace) : whole_(whole), trace_(trace) {}
  void add(const Device& device) {
    for (const std::string_view message : device.nodes) {
      try {
        add(device, node_of(message));
      } catch (const WireError& e) {
        trace_.fault("malformed events, passed over", e.place_in(whole_));
      }
    }
  }

 private:
  Track track_of(const Device& device, const Node& node) {
    Track track{.name = trace_.string(device.name)};
    if (!device.is_stream()) {
      track.thread = node.thread;
      return track;
    }
    track.place = Track::Place::device;
    track.device = static_cast<int32_t>(std::max<int64_t>(0, number_after(device.name, "device:GPU:")));
    track.thread = number_after(device.name, "/stream:");
    return track;
  }
  void add(const Device& device, const Node& node) {
    const auto begin = node.begin(), end = node.end();
    if (!begin || !end || *end < *begin) return trace_.fault("negative durations, not used", node.name);
    if (*begin < 0) return trace_.fault("events beyond the range of time", node.name);
    if (*begin == 0 && *end == 0) return trace_.fault("records with zero stamps, not used", node.name);
    const TrackId track = trace_.track(track_of(device, node));
    const std::string_view type = op_type(node.label);
    Event event{.begin = *begin, .duration = *end - *begin, .track = track};
    event.name = trace_.string(type.empty() ? node.name : type);
    if (device.is_stream()) {
      fill_device_event(event, node);
    } else {
      event.detail = trace_.detail(OpDetail{.node = trace_.string(node.name)});
      event.kind = node.name.starts_with("gradient") ? EventKind::backward_op : EventKind::op;
    }
    trace_.add(event);
    for (const AllocationRecord& record : node.allocations) add(record, node, track);
  }
  void fill_device_event(Event& event, const Node& node) {
    const std::string_view name = trace_.strings()[event.name];
    const bool copy = name.starts_with("MEMCPY") || name.starts_with("Memcpy");
    event.kind = copy ? EventKind::memcpy : is_collective_kernel(name) ? EventKind::collective : EventKind::kernel;
    if (event.kind == EventKind::kernel) event.detail = trace_.detail(KernelDetail{.node = trace_.string(node.name)});
  }
  void add(const AllocationRecord& record, const Node& node, TrackId track) {
    const auto at = Node::sum(record.at_us, 0, 1000);
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

// Adds the devices of StepStats, or of the StepStats that a RunMetadata holds.
void add_devices(std::string_view message, bool in_metadata, std::vector<Device>& devices) {
  WireReader in(message);
  for (WireField field; in.next(field);) {
    if (field.number != 1 || field.type != Type::bytes) continue;
    const Device device = device_of(field.bytes);
    if (device.name.starts_with("/"))
      devices.push_back(device);
    else if (!in_metadata)
      add_devices(field.bytes, true, devices);
  }
}

}  // namespace

void import_step_stats(std::string_view message, Trace& trace) {
  std::vector<Device> devices;
  try {
    add_devices(message, false, devices);
  } catch (const WireError& e) {
    if (devices.empty()) fail(ErrorKind::invalid, e.place_in(message));
    trace.fault("malformed, the rest was not read", e.place_in(message));
  }
  require(!devices.empty(), "no step statistics in it");
  bool numbered = false;
  for (const Device& device : devices) numbered = numbered || (device.is_stream() && !device.is_all_streams());
  StepStatsImport import(message, trace);
  for (const Device& device : devices)
    if (!numbered || !device.is_all_streams()) import.add(device);
}

void import_step_stats(ByteSource& source, Trace& trace) { import_step_stats(read_message(source), trace); }

}  // namespace tbd
