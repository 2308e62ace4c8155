#include "base/error.h"
#include "base/text.h"
#include "trace/chunk.h"
#include "trace/codec.h"

namespace tbd {
namespace {

void encode_track(ByteWriter& out, const Track& track) {
  out.varint(static_cast<uint64_t>(track.place));
  for (const int64_t field : {int64_t{track.rank}, int64_t{track.device}, track.context, track.process, track.thread})
    out.signed_varint(field);
  out.varint(track.name);
}

Track decode_track(ByteReader& in, size_t strings) {
  Track track;
  const uint64_t place = in.varint();
  require(place <= 1, "a track of place ", place);
  track.place = static_cast<Track::Place>(place);
  track.rank = static_cast<int32_t>(in.signed_varint());
  track.device = static_cast<int32_t>(in.signed_varint());
  track.context = in.signed_varint();
  track.process = in.signed_varint();
  track.thread = in.signed_varint();
  track.name = static_cast<StringId>(in.varint());
  require(track.name < strings, "string ", track.name, " of ", strings);
  return track;
}

std::string encode_state(const Trace& trace) {
  ByteWriter out;
  out.varint(trace.tracks().size());
  for (const Track& track : trace.tracks()) encode_track(out, track);
  out.varint(trace.base_epoch_ns ? 1 : 0);
  out.signed_varint(trace.base_epoch_ns.value_or(0));
  out.varint(trace.facts.size());
  for (const auto& [key, value] : trace.facts) {
    out.text(key);
    out.text(value);
  }
  out.varint(trace.faults().size());
  for (const Fault& fault : trace.faults()) {
    out.text(fault.what);
    out.signed_varint(fault.count);
    out.text(fault.first);
  }
  return out.take();
}

void decode_state(ByteReader& in, Trace& trace) {
  const size_t count = in.count(7);
  require(count >= trace.tracks().size() && count < UINT16_MAX, count, " tracks");
  std::vector<Track> tracks(count);
  for (Track& track : tracks) track = decode_track(in, trace.strings().size());
  trace.set_tracks(std::move(tracks));
  const bool has_base = in.varint() != 0;
  const int64_t base = in.signed_varint();
  if (has_base) trace.base_epoch_ns = base;
  for (size_t left = in.count(); left > 0; --left) {
    const std::string key(in.text());
    trace.facts[key] = in.text();
  }
  trace.clear_faults();
  for (size_t left = in.count(); left > 0; --left) {
    const std::string_view what = in.text();
    const int64_t count = in.signed_varint();
    require(count >= 0, "a fault that came ", count, " times");
    trace.fault(what, in.text(), count);
  }
}

}  // namespace

std::string encode_dictionary(const Trace& trace, Written& written) {
  std::string state = encode_state(trace);
  if (trace.strings().size() == written.strings && state == written.state) return {};
  ByteWriter out;
  out.varint(trace.strings().size() - written.strings);
  for (size_t id = written.strings; id < trace.strings().size(); ++id)
    out.text(trace.strings()[static_cast<StringId>(id)]);
  written.strings = trace.strings().size();
  written.state = std::move(state);
  return out.take() + written.state;
}

void decode_dictionary(std::string_view bytes, Trace& trace) {
  ByteReader in(bytes);
  for (size_t left = in.count(); left > 0; --left) {
    const size_t next = trace.strings().size();
    require(trace.string(in.text()) == next, "string ", next, " came twice");
  }
  decode_state(in, trace);
  require(in.at_end(), "bytes are left over");
}

}  // namespace tbd
