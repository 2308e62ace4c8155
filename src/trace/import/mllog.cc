#include "trace/import/mllog.h"

#include <algorithm>
#include <cmath>

namespace tbd {
namespace {

constexpr size_t kLongest = 1 << 20, kMost = 1 << 20;  // bytes of a line, events

std::string utf8_of_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80)
      out += c;
    else
      out += {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
  }
  return out;
}

// Lines of a stream, without their ends; a long one is cut.
class Lines {
 public:
  explicit Lines(ByteSource& source) : source_(source) {}
  bool next(std::string& line) {
    line.clear();
    for (bool any = false;; any = true) {
      if (at_ == have_ && (have_ = source_.read(buffer_.data(), buffer_.size()), at_ = 0, have_ == 0)) return any;
      const std::string_view rest(buffer_.data() + at_, have_ - at_);
      const size_t end = rest.find('\n');
      const std::string_view part = rest.substr(0, end);
      line += part.substr(0, kLongest + 1 - std::min(line.size(), kLongest + 1));
      at_ += part.size() + (end == std::string_view::npos ? 0 : 1);
      if (end != std::string_view::npos) return true;
    }
  }

 private:
  ByteSource& source_;
  std::string buffer_ = std::string(64 << 10, '\0');
  size_t at_ = 0, have_ = 0;
};

Json parse_line(std::string_view text) {
  try {
    return parse_json(text, "line");
  } catch (const Error&) {
    return parse_json(utf8_of_latin1(text), "line");
  }
}

MllogEvent event_of(const Json& json, int64_t line) {
  MllogEvent event{.key = at<std::string>(json, "key"), .line = line};
  event.type = maybe<std::string>(json, "event_type").value_or("");
  if (const auto time = maybe<double>(json, "time_ms"); time && std::abs(*time) < 9e15)
    event.time_ms = static_cast<int64_t>(*time);
  if (json.contains("value")) event.value = json["value"];
  if (json.contains("metadata")) event.metadata = json["metadata"];
  return event;
}

// The object behind the token: text may follow its closing brace.
std::string_view object_in(std::string_view text) {
  const size_t open = text.find('{'), close = text.rfind('}');
  require(open != std::string_view::npos && close != std::string_view::npos && close > open, "no object");
  return text.substr(open, close - open + 1);
}

}  // namespace

const MllogEvent* Mllog::first(std::string_view key) const {
  const auto found = std::ranges::find(events, key, &MllogEvent::key);
  return found == events.end() ? nullptr : &*found;
}

const MllogEvent* Mllog::last(std::string_view key) const {
  const auto found = std::find_if(events.rbegin(), events.rend(), [&](const MllogEvent& e) { return e.key == key; });
  return found == events.rend() ? nullptr : &*found;
}

bool is_mllog(const std::filesystem::path& path) {
  std::string bytes(64 << 10, '\0');
  bytes.resize(open_source(path)->read(bytes.data(), bytes.size()));
  return !bytes.starts_with("{") && !bytes.starts_with("[") && bytes.find(kMllogToken) != std::string::npos;
}

Mllog read_mllog(ByteSource& source) {
  Mllog log;
  Lines lines(source);
  std::string line;
  for (int64_t number = 1; lines.next(line); ++number) {
    const size_t token = line.find(kMllogToken);
    if (token == std::string::npos) continue;
    try {
      require(line.size() <= kLongest, "longer than 1 MiB");
      require(log.events.size() < kMost, "more events than a log has");
      log.events.push_back(event_of(parse_line(object_in(std::string_view(line).substr(token))), number));
    } catch (const Error& e) {
      if (log.malformed++ == 0) log.first_malformed = cat("line ", number, ": ", e.what());
    }
  }
  return log;
}

std::string mllog_line(const MllogEvent& event) {
  const Json json = {
      {"namespace", ""},          {"time_ms", event.time_ms},
      {"event_type", event.type}, {"key", event.key},
      {"value", event.value},     {"metadata", event.metadata.is_null() ? Json::object() : event.metadata}};
  return cat(kMllogToken, " ", json.dump(-1, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace tbd
