// The keys of an event of a Chrome trace that are read, of the event itself and of its "args".
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace tbd {

enum class ChromeKey : uint8_t {
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  id,
  s,
  // args
  args_name,
  args_labels,
  correlation,
  external_id,
  sequence,
  forward_thread,
  input_dims,
  input_type,
  concrete_inputs,
  stream,
  device,
  context,
  grid,
  block,
  registers,
  shared,
  bytes,
  kind,
  address,
  total,
  reserved,
  device_type,
  device_id,
  collective,
  elements,
  type,
  group,
  group_name,
  group_size,
  collective_seq,
  wait_stream,
  record_correlation,
  sync_event,
  node,
  value,
  none
};
constexpr size_t kChromeKeys = static_cast<size_t>(ChromeKey::none);

// ChromeKey::none for a key that is not read.
ChromeKey chrome_key(std::string_view key, bool in_args);

// Raw JSON of the values, empty where absent: strings keep their quotes and escapes.
struct ChromeEvent {
  std::array<std::string_view, kChromeKeys> values{};
  int64_t position = 0;  // of the object in the stream, bytes
  std::string_view operator[](ChromeKey key) const { return values[static_cast<size_t>(key)]; }
};

}  // namespace tbd
