#include "trace/export/csv.h"

#include <ostream>

#include "base/text.h"

namespace tbd {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

bool is_op(EventKind kind) { return kind == EventKind::op || kind == EventKind::backward_op; }

std::string bytes_of(const Trace& trace, size_t event) {
  const EventKind kind = trace.kinds()[event];
  const auto bytes = [&](const auto* detail) { return detail ? std::to_string(detail->bytes) : std::string(); };
  if (kind == EventKind::memcpy || kind == EventKind::memset) return bytes(trace.detail_of<CopyDetail>(event));
  if (kind == EventKind::alloc || kind == EventKind::free) return bytes(trace.detail_of<MemoryDetail>(event));
  if (kind == EventKind::collective) return bytes(trace.detail_of<CollectiveDetail>(event));
  return {};
}

std::pair<std::string_view, std::string_view> node_and_shapes(const Trace& trace, size_t event) {
  const EventKind kind = trace.kinds()[event];
  if (is_op(kind))
    if (const auto* op = trace.detail_of<OpDetail>(event))
      return {trace.strings()[op->node], trace.strings()[op->shapes]};
  if (kind == EventKind::kernel)
    if (const auto* kernel = trace.detail_of<KernelDetail>(event)) return {trace.strings()[kernel->node], {}};
  return {};
}

void write_row(const Trace& trace, size_t event, std::ostream& out) {
  const Track& track = trace.tracks()[trace.track_ids()[event]];
  const EventKind kind = trace.kinds()[event];
  const bool device = track.place == Track::Place::device;
  const uint32_t link = trace.links()[event];
  const auto [node, shapes] = node_and_shapes(trace, event);
  out << name(kind) << ',' << quoted(trace.name(event)) << ',' << track.rank << ',' << (device ? "device" : "host")
      << ',' << (device ? std::to_string(track.device) : std::string()) << ',' << track.process << ',' << track.thread
      << ',' << trace.begins()[event] << ',' << trace.durations()[event] << ','
      << (link != 0 && !is_op(kind) ? std::to_string(link) : std::string()) << ','
      << (link != 0 && is_op(kind) ? std::to_string(link - 1) : std::string()) << ',' << name(trace.phases()[event])
      << ',' << quoted(node) << ',' << quoted(shapes) << ',' << bytes_of(trace, event) << '\n';
}

}  // namespace

int64_t write_csv(const Trace& trace, ExportWindow window, std::ostream& out) {
  out << "kind,name,rank,place,device,process,thread,begin_ns,duration_ns,correlation,sequence,phase,node,shapes,"
         "bytes\n";
  int64_t written = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace.begins()[i] >= window.end || trace.end(i) < window.begin) continue;
    write_row(trace, i, out);
    ++written;
  }
  return written;
}

}  // namespace tbd
