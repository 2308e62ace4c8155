// An event of a trace and what hangs on it (docs/trace.md). Times are int64 nanoseconds exactly as the source had
// them, counted from the trace's base. Strings and tracks are ids of the trace that holds the event.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace tbd {

enum class EventKind : uint8_t {
  op,            // a framework's operation on a host thread; nests
  backward_op,   // one that the framework's differentiation runs
  annotation,    // a named range that a person or a framework set
  phase,         // forward, backward, update of a step, or a program's phase
  step,          // one training step
  api,           // a host call into a device's runtime or driver
  kernel,        // on a device
  memcpy,        // on a device
  memset,        // on a device
  collective,    // on a device, or on the host thread that runs it
  sync,          // a wait: on the host for a device, or of a stream for an event
  device_event,  // an event recorded on a stream
  alloc,         // an instant, with MemoryDetail
  free,          // an instant, with MemoryDetail
  input,         // fetching or preparing a batch
  compile,       // building, loading or tuning code
  overhead,      // of the tool that recorded
  counter,       // an instant, with CounterDetail
  off_cpu,       // the thread had no processor; the name says whether it could have run (trace/names.h)
};
constexpr size_t kEventKinds = 19;
std::string_view name(EventKind kind);
std::optional<EventKind> event_kind_from(std::string_view name);

enum class EventPhase : uint8_t { unknown, forward, backward, update, input, comm };
std::string_view name(EventPhase phase);

using StringId = uint32_t;  // 0 is the empty string
using TrackId = uint16_t;
constexpr uint32_t kNoDetail = UINT32_MAX;

// Where events happen: a thread of a process, or a stream of a device.
struct Track {
  enum class Place : uint8_t { host, device };
  Place place = Place::host;
  int32_t rank = 0;
  int32_t device = -1;  // of a device track
  int64_t context = 0;  // of a device track, 0 where unknown
  int64_t process = 0;  // id of the process, or a hash of the name where the source names it
  int64_t thread = 0;   // id of the thread or the stream
  StringId name = 0;    // as the source shows it; may be empty
  bool operator==(const Track&) const = default;
};

// What one event is; 32 bytes, and the columns of a trace are just these fields.
struct Event {
  int64_t begin = 0;
  int64_t duration = 0;  // never negative in a trace
  StringId name = 0;
  uint32_t link = 0;            // see below; 0: none
  uint32_t detail = kNoDetail;  // from Trace::detail; which table the kind says
  TrackId track = 0;
  EventKind kind = EventKind::op;
  EventPhase phase = EventPhase::unknown;

  int64_t end() const { return begin + duration; }
};
static_assert(sizeof(Event) == 32);
// `link` joins events of one trace.
//   api, kernel, memcpy, memset, collective, sync, device_event: the correlation, the same number on a call and on what
//     it started, unique in the trace (who reads a source that numbers per process numbers anew);
//   op, backward_op: 1 + sequence number, which a forward op and the backward ops that it caused share.
constexpr uint32_t link_of_sequence(int64_t sequence) {
  return sequence < 0 || sequence >= INT64_C(0xffffffff) ? 0 : static_cast<uint32_t>(sequence + 1);
}

// Details, one table each; equal details of a trace are stored once. Unknown is 0 or an empty string unless said.
// `fields` lists what hashes and files hold.
struct OpDetail {              // op, backward_op
  StringId node = 0;           // of the graph: "layer1.0.conv1"
  StringId shapes = 0;         // JSON without blanks: [[8,3,224,224],[]]
  StringId types = 0;          // JSON without blanks: ["float","Scalar"]
  StringId math = 0;           // math type: "fp32"
  int64_t forward_thread = 0;  // of the source, of a backward op
  static auto fields(auto& d) { return std::tie(d.node, d.shapes, d.types, d.math, d.forward_thread); }
  auto operator<=>(const OpDetail&) const = default;
};
struct KernelDetail {  // kernel
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t registers = 0;  // a thread's
  int64_t shared = 0;      // bytes a block
  StringId node = 0;       // of the graph, where the source says it
  static auto fields(auto& d) {
    return std::tie(d.grid[0], d.grid[1], d.grid[2], d.block[0], d.block[1], d.block[2], d.registers, d.shared, d.node);
  }
  auto operator<=>(const KernelDetail&) const = default;
};
enum class CopyDirection : uint8_t { unknown, to_device, to_host, on_device, on_host, between_devices };
std::string_view name(CopyDirection direction);
struct CopyDetail {  // memcpy, memset
  int64_t bytes = 0;
  CopyDirection direction = CopyDirection::unknown;
  static auto fields(auto& d) { return std::tie(d.bytes, d.direction); }
  auto operator<=>(const CopyDetail&) const = default;
};
struct CollectiveDetail {  // collective
  StringId algorithm = 0;  // "allreduce"
  StringId group = 0;
  StringId type = 0;  // of an element
  int64_t bytes = 0;  // of the input
  int64_t seq = -1;   // counted by the group; -1 where unknown
  int64_t ranks = 0;  // in the group
  static auto fields(auto& d) { return std::tie(d.algorithm, d.group, d.type, d.bytes, d.seq, d.ranks); }
  auto operator<=>(const CollectiveDetail&) const = default;
};
struct SyncDetail {          // sync, device_event
  int64_t stream = -1;       // waited for, or waiting
  int64_t event = -1;        // the source's sync id, never a handle that is used again
  uint32_t record_link = 0;  // correlation of the call that recorded the event
  static auto fields(auto& d) { return std::tie(d.stream, d.event, d.record_link); }
  auto operator<=>(const SyncDetail&) const = default;
};
struct MemoryDetail {  // alloc, free
  uint64_t address = 0;
  int64_t bytes = 0;   // positive for both kinds
  int64_t total = -1;  // allocated on the device afterwards; -1 where unknown
  int64_t reserved = -1;
  StringId tag = 0;     // data structure: "weights"
  int32_t device = -1;  // -1 is the host
  static auto fields(auto& d) { return std::tie(d.address, d.bytes, d.total, d.reserved, d.tag, d.device); }
  auto operator<=>(const MemoryDetail&) const = default;
};
struct CounterDetail {  // counter
  int64_t value = 0;
  static auto fields(auto& d) { return std::tie(d.value); }
  auto operator<=>(const CounterDetail&) const = default;
};

}  // namespace tbd
