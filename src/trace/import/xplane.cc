#include "trace/import/xplane.h"

#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "trace/import/wire.h"
#include "trace/names.h"

namespace tbd {
namespace {

using Type = WireField::Type;

// tensorflow.profiler.XPlane: lines come before the names they use, so they are kept unread.
struct Plane {
  std::string_view name;
  std::vector<std::string_view> lines;
  std::unordered_map<int64_t, std::string_view> events, stats;  // names by metadata id
};

// An entry of map<int64, Metadata{id 1, name 2}>.
void add_metadata(std::string_view entry, std::unordered_map<int64_t, std::string_view>& names) {
  int64_t id = 0;
  std::string_view name;
  WireReader in(entry);
  for (WireField field; in.next(field);) {
    if (field.number == 1 && field.type == Type::varint) id = field.integer();
    if (field.number != 2 || field.type != Type::bytes) continue;
    WireReader metadata(field.bytes);
    for (WireField inner; metadata.next(inner);)
      if (inner.number == 2 && inner.type == Type::bytes) name = inner.bytes;
  }
  names[id] = name;
}

Plane plane_of(std::string_view message) {
  Plane plane;
  WireReader in(message);
  for (WireField field; in.next(field);) {
    if (field.type != Type::bytes) continue;
    if (field.number == 2) plane.name = field.bytes;
    if (field.number == 3) plane.lines.push_back(field.bytes);
    if (field.number == 4) add_metadata(field.bytes, plane.events);
    if (field.number == 5) add_metadata(field.bytes, plane.stats);
  }
  return plane;
}

struct Line {
  int64_t id = 0, timestamp_ns = 0;
  std::string_view name, display_name;
  std::vector<std::string_view> events;
};

Line line_of(std::string_view message) {
  Line line;
  WireReader in(message);
  for (WireField field; in.next(field);) {
    if (field.number == 1) line.id = field.integer();
    if (field.number == 2) line.name = field.bytes;
    if (field.number == 3) line.timestamp_ns = field.integer();
    if (field.number == 4 && field.type == Type::bytes) line.events.push_back(field.bytes);
    if (field.number == 11) line.display_name = field.bytes;
  }
  return line;
}

class XplaneImport {
 public:
  explicit XplaneImport(Trace& trace) : trace_(trace) {}

  void add(const Plane& plane) {
    const bool device = plane.name.starts_with("/device:");
    if (!device && !plane.name.starts_with("/host:CPU")) return;
    for (const std::string_view message : plane.lines) {
      const Line line = line_of(message);
      if (device && !is_stream(line.name)) continue;
      const TrackId track = trace_.track(track_of(plane, line, device));
      for (const std::string_view event : line.events) add(plane, line, track, device, event);
    }
  }

 private:
  static bool is_stream(std::string_view line) {
    return line.starts_with("Stream #") || line.starts_with("stream ") || line == "XLA Ops";
  }
  Track track_of(const Plane& plane, const Line& line, bool device) {
    Track track{.thread = line.id, .name = trace_.string(line.display_name.empty() ? line.name : line.display_name)};
    if (!device) return track;
    track.place = Track::Place::device;
    const size_t colon = plane.name.find(':', std::string_view("/device:").size());
    const std::string_view number = colon == std::string_view::npos ? "" : plane.name.substr(colon + 1);
    track.device =
        static_cast<int32_t>(parse_int(number.substr(0, number.find_first_not_of("0123456789"))).value_or(0));
    return track;
  }
  // Only the correlation is asked of an event's statistics.
  uint32_t correlation(const Plane& plane, std::string_view stat) {
    int64_t id = 0, value = 0;
    WireReader in(stat);
    for (WireField field; in.next(field);) {
      if (field.number == 1) id = field.integer();
      if (field.number == 3 || field.number == 4) value = field.integer();
    }
    const auto name = plane.stats.find(id);
    const bool is_it = name != plane.stats.end() && name->second == "correlation_id";
    return is_it && value > 0 && value < UINT32_MAX ? static_cast<uint32_t>(value) : 0;
  }
  void add(const Plane& plane, const Line& line, TrackId track, bool device, std::string_view message) {
    int64_t metadata = 0, offset_ps = 0, duration_ps = 0;
    uint32_t link = 0;
    WireReader in(message);
    for (WireField field; in.next(field);) {
      if (field.number == 1) metadata = field.integer();
      if (field.number == 2) offset_ps = field.integer();
      if (field.number == 3) duration_ps = field.integer();
      if (field.number == 4 && field.type == Type::bytes && link == 0) link = correlation(plane, field.bytes);
    }
    const auto name = plane.events.find(metadata);
    if (name == plane.events.end()) return trace_.fault("events without a name", line.name);
    if (duration_ps < 0 || offset_ps < 0) return trace_.fault("negative durations, not used", name->second);
    // Begin and end are rounded alike, so that what touched still does.
    const int64_t from = rounded(offset_ps),
                  to = rounded(offset_ps > INT64_MAX - duration_ps ? INT64_MAX : offset_ps + duration_ps);
    if (line.timestamp_ns > INT64_MAX - to) return trace_.fault("events beyond the range of time", name->second);
    Event event{.begin = line.timestamp_ns + from, .duration = to - from, .link = link, .track = track};
    event.name = trace_.string(name->second);
    event.kind = kind_of(name->second, device, link != 0);
    if (event.kind == EventKind::op) event.link = 0;
    trace_.add(event);
  }
  static int64_t rounded(int64_t ps) { return ps / 1000 + (ps % 1000 >= 500 ? 1 : 0); }
  static EventKind kind_of(std::string_view name, bool device, bool linked) {
    const auto copy = name.find("emcpy") != std::string_view::npos || name.starts_with("MEMCPY");
    const auto set = name.find("emset") != std::string_view::npos || name.starts_with("MEMSET");
    if (device)
      return is_collective_kernel(name) ? EventKind::collective
             : copy                     ? EventKind::memcpy
             : set                      ? EventKind::memset
                                        : EventKind::kernel;
    if (is_sync_call(name)) return EventKind::sync;
    if (linked) return EventKind::api;
    if (is_input(name)) return EventKind::input;
    return name.starts_with("$") || name.starts_with("ThreadpoolListener") ? EventKind::annotation : EventKind::op;
  }

  Trace& trace_;
};

}  // namespace

void import_xplane(std::string_view message, Trace& trace) {
  XplaneImport import(trace);
  const size_t before = trace.size();
  size_t planes = 0;
  WireReader in(message);
  try {
    for (WireField field; in.next(field);) {
      if (field.number != 1 || field.type != Type::bytes) continue;
      import.add(plane_of(field.bytes));
      ++planes;
    }
  } catch (const WireError& e) {
    if (trace.size() == before) fail(ErrorKind::invalid, e.place_in(message));
    trace.fault("malformed, the rest was not read", e.place_in(message));
  }
  require(planes > 0 || trace.size() > before, "no plane in it");
}

void import_xplane(ByteSource& source, Trace& trace) { import_xplane(read_message(source), trace); }

}  // namespace tbd
