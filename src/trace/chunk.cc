#include "trace/chunk.h"

#include "base/error.h"
#include "trace/codec.h"

namespace tbd {
namespace {

constexpr size_t kMostEvents = 1 << 20;  // of a block

template <class Detail>
void encode_details(ByteWriter& out, std::span<const Detail> rows) {
  out.varint(rows.size());
  const auto put = [&](const auto& field) { out.signed_varint(static_cast<int64_t>(field)); };
  for (const Detail& row : rows) std::apply([&](const auto&... field) { (put(field), ...); }, Detail::fields(row));
}

template <class Field>
Field decode_field(ByteReader& in) {
  const int64_t value = in.signed_varint();
  const Field field = static_cast<Field>(value);
  require(static_cast<int64_t>(field) == value, "a detail's field of ", value);
  if constexpr (std::is_same_v<Field, CopyDirection>) require(value <= 5, "a copy of direction ", value);
  return field;
}

// The ids in `trace` of the rows that a block numbers from 0.
template <class Detail>
std::vector<uint32_t> decode_details(ByteReader& in, Trace& trace) {
  std::vector<uint32_t> ids(in.count(std::tuple_size_v<decltype(Detail::fields(std::declval<Detail&>()))>));
  for (uint32_t& id : ids) {
    Detail row;
    const auto get = [&](auto& field) { field = decode_field<std::remove_reference_t<decltype(field)>>(in); };
    std::apply([&](auto&... field) { (get(field), ...); }, Detail::fields(row));
    id = trace.detail(row);
  }
  return ids;
}

// Deltas: what repeats or grows slowly becomes small numbers.
template <class Value>
void encode_column(ByteWriter& out, std::span<const Value> column) {
  int64_t last = 0;
  for (const Value value : column) {
    out.signed_varint(wrapped_difference(static_cast<int64_t>(value), last));
    last = static_cast<int64_t>(value);
  }
}

// Values up to `limit`, as unsigned ones. The reader is a copy meanwhile, so that its place stays in a register.
template <class Value, class Next>
void decode_column(ByteReader& in, std::span<Value> column, uint64_t limit, std::string_view what, Next next) {
  ByteReader bytes = in;
  int64_t last = 0;
  for (Value& value : column) {
    last = next(last, bytes.signed_varint());
    if (static_cast<uint64_t>(last) > limit) fail(ErrorKind::invalid, what, " ", last, " of ", limit);
    value = static_cast<Value>(last);
  }
  in = bytes;
}
template <class Value>
void decode_deltas(ByteReader& in, std::span<Value> column, uint64_t limit, std::string_view what) {
  decode_column(in, column, limit, what, wrapped_sum);
}

// Which table of details a kind's events point into: its place in the tuple of Details; -1 for none.
int table_of(EventKind kind) {
  switch (kind) {
    case EventKind::op:
    case EventKind::backward_op:
      return 0;
    case EventKind::kernel:
      return 1;
    case EventKind::memcpy:
    case EventKind::memset:
      return 2;
    case EventKind::collective:
      return 3;
    case EventKind::sync:
    case EventKind::device_event:
      return 4;
    case EventKind::alloc:
    case EventKind::free:
      return 5;
    case EventKind::counter:
      return 6;
    default:
      return -1;
  }
}

using DetailIds = std::array<std::vector<uint32_t>, 7>;

DetailIds decode_all_details(ByteReader& in, Trace& trace) {
  DetailIds ids;
  ids[0] = decode_details<OpDetail>(in, trace);
  ids[1] = decode_details<KernelDetail>(in, trace);
  ids[2] = decode_details<CopyDetail>(in, trace);
  ids[3] = decode_details<CollectiveDetail>(in, trace);
  ids[4] = decode_details<SyncDetail>(in, trace);
  ids[5] = decode_details<MemoryDetail>(in, trace);
  ids[6] = decode_details<CounterDetail>(in, trace);
  return ids;
}

void decode_columns(ByteReader& in, const EventColumns& to) {
  decode_deltas(in, to.begin, UINT64_MAX, "begin");
  decode_column(in, to.duration, INT64_MAX, "duration", [](int64_t, int64_t value) { return value; });
  decode_deltas(in, to.name, UINT32_MAX, "string");
  decode_deltas(in, to.link, UINT32_MAX, "link");
  decode_deltas(in, to.detail, UINT32_MAX, "detail");
  decode_deltas(in, to.track, UINT16_MAX, "track");
  decode_deltas(in, to.kind, kEventKinds - 1, "kind");
  decode_deltas(in, to.phase, 5, "phase");
}

// From a block's numbers to the trace's.
void renumber_details(const EventColumns& events, const DetailIds& ids) {
  for (size_t i = 0; i < events.detail.size(); ++i) {
    uint32_t& detail = events.detail[i];
    if (detail == kNoDetail) continue;
    const int table = table_of(events.kind[i]);
    require(table >= 0 && detail < ids[table].size(), "detail ", detail, " of ", name(events.kind[i]));
    detail = ids[table][detail];
  }
}

}  // namespace

std::string encode_events(const Trace& trace) {
  ByteWriter out;
  out.varint(trace.size());
  encode_column(out, trace.begins());
  for (const int64_t duration : trace.durations()) out.signed_varint(duration);
  encode_column(out, trace.names());
  encode_column(out, trace.links());
  encode_column(out, trace.detail_ids());
  encode_column(out, trace.track_ids());
  encode_column(out, trace.kinds());
  encode_column(out, trace.phases());
  trace.details().for_each([&](const auto& table) { encode_details(out, table.rows()); });
  return out.take();
}

void decode_events(std::string_view bytes, Trace& trace) {
  ByteReader in(bytes);
  const size_t count = in.count(8);
  require(count <= kMostEvents, "a block of ", count, " events");
  trace.append(count, [&](const EventColumns& events) {
    decode_columns(in, events);
    const DetailIds ids = decode_all_details(in, trace);
    require(in.at_end(), "bytes are left over");
    renumber_details(events, ids);
  });
}

}  // namespace tbd
