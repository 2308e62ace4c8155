// Threads and streams of Chrome traces, whose "pid" and "tid" may be numbers of any size or strings.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/trace.h"

namespace tbd {

class ChromeTracks {
 public:
  explicit ChromeTracks(Trace& trace) : trace_(trace) {}
  TrackId host(std::string_view pid, std::string_view tid);
  // A device's stream; where the event does not say them, pid and tid are the device and the stream.
  TrackId stream(std::string_view pid, std::string_view tid, std::string_view device, std::string_view stream);
  void name_thread(std::string_view pid, std::string_view tid, std::string_view name);
  // Gives the names to the tracks that were used.
  void finish();

 private:
  using Place = Track::Place;
  TrackId look_up(Place place, std::string_view first, std::string_view second);

  Trace& trace_;
  std::unordered_map<std::string, TrackId> known_;
  std::map<std::pair<int64_t, int64_t>, std::string> names_;  // of threads
  std::string key_, last_key_;
  TrackId last_ = 0;
};

// A number, or the hash of a text (top bit set, so that it is no process's number).
int64_t chrome_id(std::string_view raw);

}  // namespace tbd
