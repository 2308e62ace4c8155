#include "trace/export/chrome_event.h"

#include "base/json.h"

namespace tbd {
namespace {

std::string_view category(EventKind kind) {
  switch (kind) {
    case EventKind::op:
    case EventKind::backward_op:
      return "cpu_op";
    case EventKind::kernel:
    case EventKind::collective:
      return "kernel";
    case EventKind::memcpy:
      return "gpu_memcpy";
    case EventKind::memset:
      return "gpu_memset";
    case EventKind::api:
      return "cuda_runtime";
    case EventKind::overhead:
      return "overhead";
    case EventKind::off_cpu:
      return "off_cpu";
    default:
      return "user_annotation";
  }
}

class Arguments {
 public:
  void number(std::string_view key, int64_t value) { add(key, cat(value)); }
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, json_string(value));
  }
  void json(std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, value);
  }
  std::string object() const { return cat("{", text_, "}"); }

 private:
  void add(std::string_view key, std::string_view json) {
    text_ += cat(text_.empty() ? "" : ", ", "\"", key, "\": ", json);
  }
  std::string text_;
};

template <class Extents>
std::string list(const Extents& e) {
  return cat("[", e[0], ", ", e[1], ", ", e[2], "]");
}

void add_op(Arguments& args, const Trace& trace, size_t event) {
  if (trace.links()[event] != 0) args.number("Sequence number", int64_t{trace.links()[event]} - 1);
  const auto* op = trace.detail_of<OpDetail>(event);
  if (!op) return;
  args.number("Fwd thread id", op->forward_thread);
  args.json("Input Dims", trace.strings()[op->shapes]);
  args.json("Input type", trace.strings()[op->types]);
  args.text("node", trace.strings()[op->node]);
}

void add_kernel(Arguments& args, const Trace& trace, size_t event) {
  const auto* kernel = trace.detail_of<KernelDetail>(event);
  if (!kernel) return;
  args.json("grid", list(kernel->grid));
  args.json("block", list(kernel->block));
  args.number("registers per thread", kernel->registers);
  args.number("shared memory", kernel->shared);
  args.text("node", trace.strings()[kernel->node]);
}

void add_collective(Arguments& args, const Trace& trace, size_t event) {
  const auto* collective = trace.detail_of<CollectiveDetail>(event);
  if (!collective) return;
  args.text("Collective name", trace.strings()[collective->algorithm]);
  args.text("Process Group Name", trace.strings()[collective->group]);
  args.number("Group size", collective->ranks);
  if (collective->seq >= 0) args.number("Seq", collective->seq);
  args.number("bytes", collective->bytes);
}

void add_copy(Arguments& args, const Trace& trace, size_t event) {
  if (const auto* copy = trace.detail_of<CopyDetail>(event)) args.number("bytes", copy->bytes);
}

void add_memory(Arguments& args, const Trace& trace, size_t event) {
  const auto* memory = trace.detail_of<MemoryDetail>(event);
  if (!memory) return;
  args.number("Addr", static_cast<int64_t>(memory->address));
  args.number("Bytes", trace.kinds()[event] == EventKind::free ? -memory->bytes : memory->bytes);
  if (memory->total >= 0) args.number("Total Allocated", memory->total);
  if (memory->reserved >= 0) args.number("Total Reserved", memory->reserved);
  args.number("Device Type", memory->device < 0 ? 0 : 1);
  args.number("Device Id", memory->device);
  args.text("tag", trace.strings()[memory->tag]);
}

std::string arguments(const Trace& trace, size_t event, const Track& track) {
  Arguments args;
  const EventKind kind = trace.kinds()[event];
  const bool op = kind == EventKind::op || kind == EventKind::backward_op;
  if (track.place == Track::Place::device) {
    args.number("device", track.device);
    if (track.context != 0) args.number("context", track.context);
    args.number("stream", track.thread);
  }
  if (op) add_op(args, trace, event);
  if (!op && trace.links()[event] != 0) args.number("correlation", trace.links()[event]);
  if (kind == EventKind::kernel) add_kernel(args, trace, event);
  if (kind == EventKind::collective) add_collective(args, trace, event);
  if (kind == EventKind::memcpy || kind == EventKind::memset) add_copy(args, trace, event);
  if (kind == EventKind::alloc || kind == EventKind::free) add_memory(args, trace, event);
  if (const auto* counter = trace.detail_of<CounterDetail>(event); counter && kind == EventKind::counter)
    args.number("value", counter->value);
  return args.object();
}

std::string_view category_on(EventKind kind, bool device) {
  if (device && kind == EventKind::sync) return "cuda_sync";
  if (kind == EventKind::sync) return "cuda_runtime";
  if (device && kind == EventKind::annotation) return "gpu_user_annotation";
  return category(kind);
}

}  // namespace

std::string microseconds(int64_t ns) {
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  std::string fraction = std::to_string(size % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return cat(ns < 0 ? "-" : "", size / 1000, ".", fraction);
}

std::string json_string(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string chrome_object(const Trace& trace, size_t event, int64_t origin, std::optional<int64_t> tid) {
  const Track& track = trace.tracks()[trace.track_ids()[event]];
  const EventKind kind = trace.kinds()[event];
  const bool device = track.place == Track::Place::device;
  const bool instant = kind == EventKind::alloc || kind == EventKind::free || kind == EventKind::counter;
  std::string out = cat("{\"ph\": \"", !instant ? "X" : kind == EventKind::counter ? "C" : "i", "\"");
  if (!instant) out += cat(", \"cat\": \"", category_on(kind, device), "\"");
  if (instant && kind != EventKind::counter) out += ", \"cat\": \"cpu_instant_event\", \"s\": \"t\"";
  const bool memory = instant && kind != EventKind::counter;
  out += cat(", \"name\": ", memory ? std::string("\"[memory]\"") : json_string(trace.name(event)));
  out += cat(", \"pid\": ", device ? int64_t{track.device} : track.process, ", \"tid\": ", tid.value_or(track.thread));
  out += cat(", \"ts\": ", microseconds(trace.begins()[event] - origin));
  if (!instant) out += cat(", \"dur\": ", microseconds(trace.durations()[event]));
  return out + cat(", \"args\": ", arguments(trace, event, track), "}");
}

}  // namespace tbd
