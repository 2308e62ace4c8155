#include "trace/import/kineto_args.h"

#include <charconv>

#include "trace/import/decimal.h"
#include "trace/names.h"

namespace tbd {
namespace {

// "[32,1,1]"
std::array<uint32_t, 3> extents(std::string_view json) {
  std::array<uint32_t, 3> out{};
  const char* const end = json.data() + json.size();
  size_t i = 0;
  for (const char* at = json.data(); at != end && i < 3; ++at)
    if (*at >= '0' && *at <= '9') at = std::from_chars(at, end, out[i++]).ptr - 1;
  return out;
}

// Bytes of an element, by c10's names.
int64_t element_bytes(std::string_view type) {
  if (type == "Float" || type == "Int" || type == "float" || type == "ComplexHalf") return 4;
  if (type == "Half" || type == "BFloat16" || type == "Short" || type == "c10::BFloat16") return 2;
  if (type == "Double" || type == "Long" || type == "ComplexFloat") return 8;
  if (type == "ComplexDouble") return 16;
  return 1;
}

}  // namespace

StringId CompactJson::id(std::string_view raw, Trace& trace) {
  const StringId key = raw_.intern(raw);
  if (key >= ids_.size()) ids_.resize(key + 1, 0);
  if (ids_[key] == 0) ids_[key] = trace.string(without_blanks(raw, scratch_));
  return ids_[key];
}

std::optional<int64_t> ChromeValues::integer(ChromeKey key) const { return whole_number(event_[key]); }
std::string_view ChromeValues::text(ChromeKey key) const { return json_text(event_[key], scratch_); }
std::optional<int64_t> ChromeValues::nanoseconds(ChromeKey key) const { return scaled_decimal(event_[key], 3); }
StringId ChromeValues::json(ChromeKey key) const { return has(key) ? compact_.id(event_[key], trace_) : 0; }

uint32_t ChromeValues::op() const {
  const OpDetail detail{.node = string(ChromeKey::node),
                        .shapes = json(ChromeKey::input_dims),
                        .types = json(ChromeKey::input_type),
                        .forward_thread = integer_or(ChromeKey::forward_thread, 0)};
  return detail == OpDetail{} ? kNoDetail : trace_.detail(detail);
}

uint32_t ChromeValues::kernel() const {
  return trace_.detail(KernelDetail{.grid = extents(event_[ChromeKey::grid]),
                                    .block = extents(event_[ChromeKey::block]),
                                    .registers = static_cast<uint32_t>(integer_or(ChromeKey::registers, 0)),
                                    .shared = integer_or(ChromeKey::shared, 0),
                                    .node = string(ChromeKey::node)});
}

uint32_t ChromeValues::copy(std::string_view name) const {
  return trace_.detail(CopyDetail{.bytes = integer_or(ChromeKey::bytes, 0), .direction = copy_direction(name)});
}

uint32_t ChromeValues::collective() const {
  const int64_t elements = integer_or(ChromeKey::elements, 0), size = element_bytes(text(ChromeKey::type));
  const bool sane = elements > 0 && elements < (int64_t{1} << 58);
  return trace_.detail(
      CollectiveDetail{.algorithm = string(ChromeKey::collective),
                       .group = string(has(ChromeKey::group_name) ? ChromeKey::group_name : ChromeKey::group),
                       .type = string(ChromeKey::type),
                       .bytes = sane ? elements * size : 0,
                       .seq = integer_or(ChromeKey::collective_seq, -1),
                       .ranks = integer_or(ChromeKey::group_size, 0)});
}

uint32_t ChromeValues::sync() const {
  const int64_t record = integer_or(ChromeKey::record_correlation, 0);
  const int64_t waits = integer_or(ChromeKey::wait_stream, -1);
  return trace_.detail(
      SyncDetail{.stream = waits,
                 .event = integer_or(ChromeKey::sync_event, -1),
                 .record_link = record > 0 && record < UINT32_MAX ? static_cast<uint32_t>(record) : 0});
}

uint32_t ChromeValues::memory(int64_t bytes) const {
  const bool on_device = integer_or(ChromeKey::device_type, 0) != 0;  // c10::DeviceType, 0 is the CPU
  return trace_.detail(
      MemoryDetail{.address = static_cast<uint64_t>(integer_or(ChromeKey::address, 0)),
                   .bytes = bytes,
                   .total = integer_or(ChromeKey::total, -1),
                   .reserved = integer_or(ChromeKey::reserved, -1),
                   .device = on_device ? static_cast<int32_t>(integer_or(ChromeKey::device_id, 0)) : -1});
}

}  // namespace tbd
