#include "trace/export/chrome.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>

#include "trace/export/chrome_event.h"

namespace tbd {
namespace {

constexpr int64_t kEpochLike = INT64_C(1'000'000'000'000'000);  // eleven days in ns: no trace runs that long
constexpr int64_t kOverflow = 1'000'000'000;                    // tids of the tracks that are made up

std::vector<uint32_t> chosen(const Trace& trace, int32_t rank, ExportWindow window) {
  std::vector<uint32_t> events;
  for (uint32_t i = 0; i < trace.size(); ++i)
    if (trace.tracks()[trace.track_ids()[i]].rank == rank && trace.begins()[i] < window.end &&
        trace.end(i) >= window.begin)
      events.push_back(i);
  std::ranges::stable_sort(events, [&](uint32_t a, uint32_t b) {
    return trace.begins()[a] != trace.begins()[b] ? trace.begins()[a] < trace.begins()[b]
                                                  : trace.durations()[a] > trace.durations()[b];
  });
  return events;
}

// Puts slices on tracks where they nest: the own one first, then overflow tracks.
class Lanes {
 public:
  std::optional<int64_t> tid(const Trace& trace, uint32_t event) {
    if (trace.durations()[event] == 0) return std::nullopt;
    const TrackId track = trace.track_ids()[event];
    std::vector<std::vector<int64_t>>& lanes = lanes_[track];
    for (size_t lane = 0;; ++lane) {
      if (lane == lanes.size()) lanes.emplace_back();
      if (!nests(lanes[lane], trace.begins()[event], trace.end(event))) continue;
      if (lane == 0) return std::nullopt;
      return kOverflow + int64_t{track} * 1000 + static_cast<int64_t>(lane);
    }
  }

 private:
  static bool nests(std::vector<int64_t>& open, int64_t begin, int64_t end) {
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty() && open.back() < end) return false;
    open.push_back(end);
    return true;
  }
  std::map<TrackId, std::vector<std::vector<int64_t>>> lanes_;  // ends of what is open
};

void write_names(const Trace& trace, int32_t rank, std::ostream& out) {
  for (const Track& track : trace.tracks()) {
    if (track.rank != rank || track.name == 0) continue;
    const int64_t pid = track.place == Track::Place::device ? int64_t{track.device} : track.process;
    out << ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": " << pid << ", \"tid\": " << track.thread
        << ", \"ts\": 0, \"args\": {\"name\": " << json_string(trace.strings()[track.name]) << "}}";
  }
}

}  // namespace

int64_t write_chrome(const Trace& trace, int32_t rank, ExportWindow window, std::ostream& out) {
  const std::vector<uint32_t> events = chosen(trace, rank, window);
  const int64_t first = events.empty() ? 0 : trace.begins()[events.front()];
  const int64_t base = trace.base_epoch_ns.value_or(0);
  const int64_t origin = first >= kEpochLike && base <= INT64_MAX - first ? first : 0;
  out << "{\n\"schemaVersion\": 1,\n\"baseTimeNanoseconds\": " << base + origin
      << ",\n\"distributedInfo\": {\"rank\": " << rank << "},\n\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [\n";
  out << "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"tid\": 0, \"ts\": 0, \"args\": {\"name\": \"rank "
      << rank << "\"}}";
  write_names(trace, rank, out);
  Lanes lanes;
  for (const uint32_t event : events) out << ",\n" << chrome_object(trace, event, origin, lanes.tid(trace, event));
  out << "\n]\n}\n";
  return static_cast<int64_t>(events.size());
}

}  // namespace tbd
