#include "trace/import/chrome_keys.h"

namespace tbd {
namespace {

struct Known {
  std::string_view text;
  bool in_args;
  ChromeKey key;
};
// As PyTorch's profiler (Kineto) and MXNet's write them; several spellings where versions differ.
constexpr Known kKnown[] = {
    {"ph", false, ChromeKey::ph},
    {"cat", false, ChromeKey::cat},
    {"name", false, ChromeKey::name},
    {"pid", false, ChromeKey::pid},
    {"tid", false, ChromeKey::tid},
    {"ts", false, ChromeKey::ts},
    {"dur", false, ChromeKey::dur},
    {"id", false, ChromeKey::id},
    {"s", false, ChromeKey::s},
    {"name", true, ChromeKey::args_name},
    {"labels", true, ChromeKey::args_labels},
    {"correlation", true, ChromeKey::correlation},
    {"External id", true, ChromeKey::external_id},
    {"external id", true, ChromeKey::external_id},
    {"Sequence number", true, ChromeKey::sequence},
    {"Fwd thread id", true, ChromeKey::forward_thread},
    {"Input Dims", true, ChromeKey::input_dims},
    {"Input dims", true, ChromeKey::input_dims},
    {"Input type", true, ChromeKey::input_type},
    {"Concrete Inputs", true, ChromeKey::concrete_inputs},
    {"stream", true, ChromeKey::stream},
    {"device", true, ChromeKey::device},
    {"context", true, ChromeKey::context},
    {"grid", true, ChromeKey::grid},
    {"block", true, ChromeKey::block},
    {"registers per thread", true, ChromeKey::registers},
    {"shared memory", true, ChromeKey::shared},
    {"bytes", true, ChromeKey::bytes},
    {"kind", true, ChromeKey::kind},
    {"Addr", true, ChromeKey::address},
    {"Bytes", true, ChromeKey::bytes},
    {"Total Allocated", true, ChromeKey::total},
    {"Total Reserved", true, ChromeKey::reserved},
    {"Device Type", true, ChromeKey::device_type},
    {"Device Id", true, ChromeKey::device_id},
    {"Collective name", true, ChromeKey::collective},
    {"In msg nelems", true, ChromeKey::elements},
    {"In msg size", true, ChromeKey::elements},
    {"dtype", true, ChromeKey::type},
    {"Process Group Description", true, ChromeKey::group},
    {"Process Group Name", true, ChromeKey::group_name},
    {"Group size", true, ChromeKey::group_size},
    {"Seq", true, ChromeKey::collective_seq},
    {"wait_on_stream", true, ChromeKey::wait_stream},
    {"wait_on_cuda_event_record_corr_id", true, ChromeKey::record_correlation},
    {"wait_on_cuda_event_id", true, ChromeKey::sync_event},
    {"cuda_sync_id", true, ChromeKey::sync_event},
    {"node", true, ChromeKey::node},
    {"value", true, ChromeKey::value},
};

constexpr size_t kSlots = 1024;  // few keys that are not read meet one that is

constexpr size_t slot_of(std::string_view key, bool in_args) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(key[i]); };
  return (key.size() * 29 + at(0) * 7 + at(key.size() - 1) * 13 + at(key.size() / 2) * 3 + (in_args ? 101 : 0)) %
         kSlots;
}

constexpr std::array<uint8_t, kSlots> table() {
  std::array<uint8_t, kSlots> slots{};
  for (uint8_t i = 0; i < std::size(kKnown); ++i) {
    size_t slot = slot_of(kKnown[i].text, kKnown[i].in_args);
    while (slots[slot] != 0) slot = (slot + 1) % kSlots;
    slots[slot] = i + 1;
  }
  return slots;
}
constexpr std::array<uint8_t, kSlots> kTable = table();

}  // namespace

ChromeKey chrome_key(std::string_view key, bool in_args) {
  if (key.empty()) return ChromeKey::none;
  for (size_t slot = slot_of(key, in_args); kTable[slot] != 0; slot = (slot + 1) % kSlots) {
    const Known& known = kKnown[kTable[slot] - 1];
    if (known.in_args == in_args && known.text == key) return known.key;
  }
  return ChromeKey::none;
}

}  // namespace tbd
