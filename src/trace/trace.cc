#include "trace/trace.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {

TrackId Trace::track(const Track& asked) {
  Track track = asked;
  track.rank = rank_.value_or(track.rank);
  for (size_t i = 0; i < tracks_.size(); ++i) {
    Track same = track;
    same.name = tracks_[i].name;
    if (same != tracks_[i]) continue;
    if (tracks_[i].name == 0) tracks_[i].name = track.name;
    return static_cast<TrackId>(i);
  }
  require(tracks_.size() < UINT16_MAX, "more than 65,535 threads and streams");
  tracks_.push_back(track);
  return static_cast<TrackId>(tracks_.size() - 1);
}

void Trace::set_rank(int32_t rank) {
  rank_ = rank;
  for (Track& track : tracks_) track.rank = rank;
}

void Trace::refuse(const Event& event) const {
  require(event.track < tracks_.size(), "track ", event.track, " of ", tracks_.size());
  require(event.name < strings_.size(), "string ", event.name, " of ", strings_.size());
  require(event.duration >= 0, "an event of ", event.duration, " ns");
  fail(ErrorKind::invalid, "an event ends beyond the range of time");
}

inline void Trace::check(const Event& event) const {
  const bool is_sound = event.track < tracks_.size() && event.name < strings_.size() && event.duration >= 0 &&
                        event.begin <= INT64_MAX - event.duration;
  if (!is_sound) refuse(event);
}

void Trace::append(size_t count, const std::function<void(const EventColumns&)>& fill) {
  const size_t have = size();
  const auto added = [&](auto& column) { return std::span(column).subspan(have); };
  resize(have + count);
  try {
    fill({added(begin_), added(duration_), added(name_), added(link_), added(detail_), added(track_), added(kind_),
          added(phase_)});
    for (size_t i = have; i < size(); ++i) check((*this)[i]);
  } catch (...) {
    resize(have);
    throw;
  }
  if (begin_.size() >= drain_at_) drain_(*this);
}

void Trace::add(const Event& event) {
  check(event);
  begin_.push_back(event.begin);
  duration_.push_back(event.duration);
  name_.push_back(event.name);
  link_.push_back(event.link);
  detail_.push_back(event.detail);
  track_.push_back(event.track);
  kind_.push_back(event.kind);
  phase_.push_back(event.phase);
  if (begin_.size() >= drain_at_) drain_(*this);
}

void Trace::fault(std::string_view what, std::string_view where, int64_t count) {
  const auto found = std::ranges::find(faults_, what, &Fault::what);
  if (found != faults_.end())
    found->count = count > INT64_MAX - found->count ? INT64_MAX : found->count + count;
  else
    faults_.push_back({std::string(what), count, std::string(where)});
}

size_t Trace::memory_bytes() const {
  size_t bytes = begin_.capacity() * 16 + name_.capacity() * 12 + track_.capacity() * 2 + kind_.capacity() * 2;
  details_.for_each([&](const auto& table) { bytes += table.memory_bytes(); });
  return bytes + strings_.bytes() + strings_.size() * 32;
}

void Trace::drain_every(size_t events, std::function<void(Trace&)> drain) {
  drain_at_ = events;
  drain_ = std::move(drain);
}

void Trace::clear_events() {
  begin_.clear();
  duration_.clear();
  name_.clear();
  link_.clear();
  detail_.clear();
  track_.clear();
  kind_.clear();
  phase_.clear();
  details_.for_each([](auto& table) { table.clear(); });
}

void Trace::resize(size_t events) {
  begin_.resize(events);
  duration_.resize(events);
  name_.resize(events);
  link_.resize(events);
  detail_.resize(events);
  track_.resize(events);
  kind_.resize(events);
  phase_.resize(events);
}

void Trace::reserve(size_t events) {
  begin_.reserve(events);
  duration_.reserve(events);
  name_.reserve(events);
  link_.reserve(events);
  detail_.reserve(events);
  track_.reserve(events);
  kind_.reserve(events);
  phase_.reserve(events);
}

void Trace::shrink() {
  begin_.shrink_to_fit();
  duration_.shrink_to_fit();
  name_.shrink_to_fit();
  link_.shrink_to_fit();
  detail_.shrink_to_fit();
  track_.shrink_to_fit();
  kind_.shrink_to_fit();
  phase_.shrink_to_fit();
}

}  // namespace tbd
