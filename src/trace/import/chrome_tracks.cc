#include "trace/import/chrome_tracks.h"

#include "base/hash.h"
#include "base/text.h"
#include "trace/import/chrome.h"
#include "trace/import/decimal.h"

namespace tbd {
namespace {

// A number, or that at the end of "stream 7" or "GPU 0"; the text's hash where there is none.
int64_t trailing_id(std::string_view raw) {
  if (const auto number = whole_number(raw)) return *number;  // -1: Kineto's stream of what waits for a whole device
  std::string scratch;
  const std::string_view text = json_text(raw, scratch);
  const size_t last = text.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == text.size()) return chrome_id(raw);
  return parse_int(text.substr(last + 1)).value_or(chrome_id(raw));
}

}  // namespace

int64_t chrome_id(std::string_view raw) {
  if (const auto number = whole_number(raw)) return *number;
  uint64_t hash = 0;  // the first bytes of SHA-256: the same everywhere
  const auto digest = sha256(raw);
  for (size_t i = 0; i < 8; ++i) hash = hash << 8 | digest[i];
  return static_cast<int64_t>(hash | UINT64_C(1) << 63);
}

TrackId ChromeTracks::look_up(Place place, std::string_view first, std::string_view second) {
  key_.assign(1, place == Place::host ? 'h' : 'd').append(first).append(1, '\n').append(second);
  if (key_ == last_key_) return last_;
  auto found = known_.find(key_);
  if (found == known_.end()) {
    Track track{.place = place};
    if (place == Place::host) {
      track.process = chrome_id(first);
      track.thread = chrome_id(second);
    } else {
      track.device = static_cast<int32_t>(trailing_id(first));
      track.thread = trailing_id(second);
    }
    found = known_.emplace(key_, trace_.track(track)).first;
  }
  last_key_ = key_;
  return last_ = found->second;
}

TrackId ChromeTracks::host(std::string_view pid, std::string_view tid) { return look_up(Place::host, pid, tid); }

TrackId ChromeTracks::stream(std::string_view pid, std::string_view tid, std::string_view device,
                             std::string_view stream) {
  return look_up(Place::device, device.empty() ? pid : device, stream.empty() ? tid : stream);
}

void ChromeTracks::name_thread(std::string_view pid, std::string_view tid, std::string_view name) {
  names_.insert_or_assign({chrome_id(pid), chrome_id(tid)}, std::string(name));
}

void ChromeTracks::finish() {
  const std::vector<Track> tracks(trace_.tracks().begin(), trace_.tracks().end());
  for (Track track : tracks) {
    const bool host = track.place == Place::host;
    const auto found = names_.find({host ? track.process : int64_t{track.device}, track.thread});
    if (found == names_.end()) continue;
    track.name = trace_.string(found->second);
    trace_.track(track);
  }
}

}  // namespace tbd
