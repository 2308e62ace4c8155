// Which class an event belongs to: by its recorded kind first, by its name second (docs/trace.md). The patterns of
// names are data.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace tbd {

// What keeps a device busy; a bit each in the mask of a sweep.
enum class DeviceClass : uint8_t { compute, layout, comm, copy };
constexpr size_t kDeviceClasses = 4;
std::string_view name(DeviceClass cls);
constexpr uint8_t bit(DeviceClass cls) { return static_cast<uint8_t>(1 << static_cast<int>(cls)); }
constexpr uint8_t kComputeBits = bit(DeviceClass::compute) | bit(DeviceClass::layout);

// Why a device was idle. The first eight are what the thread did that was to give it work, in the order in which they
// are asked at each instant.
enum class IdleCause : uint8_t {
  input,            // the loop fetched a batch
  sync,             // it waited for the device
  alloc,            // it allocated or freed memory
  compile,          // it built, loaded or tuned code
  overhead,         // the recording tool worked
  collective_wait,  // it waited in a collective operation
  off_cpu,          // it could have run, and had no processor
  dispatch,         // it was inside an op, where none worked
  host_other,       // anything else before the launch
  launch,           // inside the launch call
  latency,          // after the call, up to the delay that is usual in this trace
  dependency,       // beyond that, while another stream was waited for
  device_other,     // beyond that, for no reason that the trace shows
  unattributed,     // no launch was found
};
constexpr size_t kIdleCauses = 14;
std::string_view name(IdleCause cause);  // "host other"
std::string_view key(IdleCause cause);   // "host_other"

// Class of an event that keeps a device busy; nullopt for all others. For host tracks: of an op that works.
std::optional<DeviceClass> device_class(EventKind kind, std::string_view name);
DeviceClass op_class(std::string_view name);
// The engine whose op sums over the ranks, as records name it ("gloo"); empty for other ops.
std::string_view engine_of_sum(std::string_view name);
// What a host event means for a device that waits; nullopt where it says nothing (a range, a launch).
std::optional<IdleCause> host_cause(EventKind kind, std::string_view name);
// The same for events of one trace, each name looked at once.
class HostCauses {
 public:
  explicit HostCauses(const Trace& trace) : trace_(trace), known_(kTableCount * trace.strings().size(), kUnknown) {}
  std::optional<IdleCause> operator()(uint32_t event) {
    const EventKind kind = trace_.kinds()[event];
    const int table = kTables[static_cast<size_t>(kind)];
    if (table < 0) return host_cause(kind, {});
    uint8_t& known = known_[kTableCount * size_t{trace_.names()[event]} + static_cast<size_t>(table)];
    if (known == kUnknown) known = look_up(event);
    return known == kNone ? std::nullopt : std::optional(static_cast<IdleCause>(known));
  }

 private:
  static constexpr uint8_t kUnknown = 255, kNone = 254;
  // Kinds whose names matter have a table: ops, calls, ranges, time without a processor.
  static constexpr size_t kTableCount = 4;
  static constexpr std::array<int8_t, kEventKinds> kTables = [] {
    std::array<int8_t, kEventKinds> tables{};
    tables.fill(-1);
    tables[static_cast<size_t>(EventKind::op)] = tables[static_cast<size_t>(EventKind::backward_op)] = 0;
    tables[static_cast<size_t>(EventKind::api)] = 1;
    tables[static_cast<size_t>(EventKind::annotation)] = 2;
    tables[static_cast<size_t>(EventKind::off_cpu)] = 3;
    return tables;
  }();
  uint8_t look_up(uint32_t event) const;
  const Trace& trace_;
  std::vector<uint8_t> known_;  // by name
};
// A call that puts work on a device.
bool is_launch(std::string_view name);
// A call that makes a stream wait for an event, or a device's record of such a wait; Kineto's records on a device of
// "Stream Sync", "Context Sync" and "Event Sync" are waits of the host.
bool is_stream_wait(std::string_view name);
// Time in which a thread that could have run had no processor; otherwise it waited of its own will.
bool is_preemption(EventKind kind, std::string_view name);
// What an op does between the ops that it calls.
enum class OpRole : uint8_t {
  work,          // computes, or moves data: every op that is none of the others
  wrapper,       // chooses and calls other ops: "aten::linear", "AddmmBackward0", "torch::autograd::AccumulateGrad"
  housekeeping,  // arranges memory for other ops and computes nothing: "aten::empty", "aten::view"
};
OpRole op_role(std::string_view name);

}  // namespace tbd
