#include "backends/mxnet/profile_rows.h"

#include <algorithm>
#include <charconv>

#include "base/files.h"

namespace tbd::mxnet {
namespace {

// The value of a line `"key": value,`; empty where the line has another key.
std::string_view value_of(std::string_view line, std::string_view key) {
  if (line.size() < key.size() + 5 || line[0] != '"' || line.substr(1, key.size()) != key) return "";
  line.remove_prefix(key.size() + 4);
  if (line.ends_with(',')) line.remove_suffix(1);
  return line.starts_with('"') ? line.substr(1, line.size() - 2) : line;
}

template <class Number>
void read(std::string_view text, Number& into) {
  if (!text.empty()) std::from_chars(text.data(), text.data() + text.size(), into);
}

// One event as MXNet writes it, a key per line.
struct ProfileEvent {
  std::string_view name, kind;
  int64_t ts = 0;
  uint64_t tid = 0;
  void take(std::string_view line) {
    if (const std::string_view text = value_of(line, "name"); !text.empty()) name = text;
    if (const std::string_view text = value_of(line, "ph"); !text.empty()) kind = text;
    read(value_of(line, "ts"), ts);
    read(value_of(line, "tid"), tid);
  }
};

}  // namespace

std::vector<ProfileRow> read_profile(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  std::vector<ProfileRow> rows;
  ProfileEvent event, begun;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    at = end + 1;
    if (line.starts_with('{')) event = {};
    event.take(line);
    if (!line.starts_with('}')) continue;
    if (event.kind == "B") begun = event;
    const bool pair = event.kind == "E" && begun.name == event.name && begun.tid == event.tid;
    if (pair) rows.push_back({std::string(event.name), begun.ts, event.ts, event.tid});
    if (event.kind == "E") begun = {};
  }
  return rows;
}

}  // namespace tbd::mxnet
