// MLPerf logs: lines with ":::MLLOG {json}" anywhere in them (MLCommons mlperf_logging 1.0).
#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "trace/import/source.h"

namespace tbd {

struct MllogEvent {
  std::string key, type;  // type: INTERVAL_START, INTERVAL_END, POINT_IN_TIME
  int64_t time_ms = 0;
  Json value, metadata;  // any JSON; an accuracy is a fraction, or an object of several
  int64_t line = 0;      // from 1
};

struct Mllog {
  std::vector<MllogEvent> events;  // in order; keys that nobody knows are kept
  int64_t malformed = 0;           // lines with the token and no readable JSON behind it
  std::string first_malformed;     // "line 12: ..."

  const MllogEvent* first(std::string_view key) const;
  const MllogEvent* last(std::string_view key) const;
};

constexpr std::string_view kMllogToken = ":::MLLOG";
// Whether the token is among the first 64 KiB of a file that begins with no JSON.
bool is_mllog(const std::filesystem::path& path);
// Bytes that are no UTF-8 are taken as latin-1. Lines longer than 1 MiB, and those
// beyond a million events, count as malformed.
Mllog read_mllog(ByteSource& source);
// "%s" of the token, then the object, as mlperf_logging writes it; own keys begin with "tbd_".
std::string mllog_line(const MllogEvent& event);

}  // namespace tbd
