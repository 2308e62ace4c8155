// A trace in memory: columns of 32 bytes an event, interned strings and tracks, and side tables of details. The same
// type is the buffer of the file's writer, so a producer and an importer write to one thing.
//
//   Trace trace;                                     // or: TraceWriter writer(path); Trace& trace = writer.trace();
//   const TrackId thread = trace.track({.process = getpid(), .thread = gettid()});
//   trace.add({.begin = 100, .duration = 5, .name = trace.string("aten::add"), .track = thread});
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/large_vector.h"
#include "trace/details.h"
#include "trace/event.h"
#include "trace/strings.h"

namespace tbd {

// Something that was lost, inconsistent or repaired: never silent, never an event of its own.
struct Fault {
  std::string what;  // "kernels without their launch"
  int64_t count = 0;
  std::string first;  // where the first one was: "byte 1234: no name"; may be empty
  bool operator==(const Fault&) const = default;
};

// Columns of events that are being filled in.
struct EventColumns {
  std::span<int64_t> begin, duration;
  std::span<StringId> name;
  std::span<uint32_t> link, detail;
  std::span<TrackId> track;
  std::span<EventKind> kind;
  std::span<EventPhase> phase;
};

class Trace {
 public:
  // Identity and origin. `facts` go with the file: "framework", "device 0", "source".
  std::optional<int64_t> base_epoch_ns;  // of time 0
  std::map<std::string, std::string> facts;

  StringId string(std::string_view text) { return strings_.intern(text); }
  // The id of a track, equal ones once (name aside: the first that is not empty stays). Error(invalid) beyond 65,535.
  TrackId track(const Track& track);
  void set_rank(int32_t rank);  // of all tracks, those to come too
  void set_tracks(std::vector<Track> tracks) { tracks_ = std::move(tracks); }
  // The id for Event::detail, good for the very next add: a trace that is being written to a file drops its details
  // with its events.
  template <class Detail>
  uint32_t detail(const Detail& value) {
    return details_.of<Detail>().intern(value);
  }
  // Throws Error(invalid) on a negative duration, an end beyond int64, an unknown track.
  void add(const Event& event);
  // The same of `count` events that `fill` writes, all or none of them; drains once, at the end.
  void append(size_t count, const std::function<void(const EventColumns&)>& fill);
  void fault(std::string_view what, std::string_view where = {}, int64_t count = 1);
  void clear_faults() { faults_.clear(); }

  size_t size() const { return begin_.size(); }
  bool empty() const { return begin_.empty(); }
  Event operator[](size_t i) const {
    return {begin_[i], duration_[i], name_[i], link_[i], detail_[i], track_[i], kind_[i], phase_[i]};
  }
  std::span<const int64_t> begins() const { return begin_; }
  std::span<const int64_t> durations() const { return duration_; }
  std::span<const StringId> names() const { return name_; }
  std::span<const uint32_t> links() const { return link_; }
  std::span<const uint32_t> detail_ids() const { return detail_; }
  std::span<const TrackId> track_ids() const { return track_; }
  std::span<const EventKind> kinds() const { return kind_; }
  std::span<const EventPhase> phases() const { return phase_; }
  int64_t end(size_t i) const { return begin_[i] + duration_[i]; }
  std::string_view name(size_t i) const { return strings_[name_[i]]; }

  const StringTable& strings() const { return strings_; }
  std::span<const Track> tracks() const { return tracks_; }
  const Details& details() const { return details_; }
  // The event's detail; nullptr where it has none of this type.
  template <class Detail>
  const Detail* detail_of(size_t i) const {
    return detail_[i] == kNoDetail ? nullptr : details_.of<Detail>().find(detail_[i]);
  }
  const std::vector<Fault>& faults() const { return faults_; }
  size_t memory_bytes() const;  // of columns, strings and details

  // Calls `drain` from add whenever `events` are held; it takes them and calls clear_events.
  void drain_every(size_t events, std::function<void(Trace&)> drain);
  void clear_events();  // and the details; strings, tracks, facts and faults stay
  void reserve(size_t events);
  void shrink();  // gives back what growing left over

 private:
  void check(const Event& event) const;
  [[noreturn]] void refuse(const Event& event) const;
  void resize(size_t events);

  StringTable strings_;
  std::vector<Track> tracks_;
  std::optional<int32_t> rank_;  // of all of them
  Details details_;
  std::vector<Fault> faults_;
  LargeVector<int64_t> begin_, duration_;
  LargeVector<StringId> name_;
  LargeVector<uint32_t> link_, detail_;
  LargeVector<TrackId> track_;
  LargeVector<EventKind> kind_;
  LargeVector<EventPhase> phase_;
  size_t drain_at_ = SIZE_MAX;
  std::function<void(Trace&)> drain_;
};

}  // namespace tbd
