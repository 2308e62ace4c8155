// What a device did in a traced window, as events of a trace: kernels, copies, and the calls that started them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/pytorch/op_tape.h"
#include "trace/trace.h"

namespace tbd::pytorch {

// One activity as Kineto has it.
struct DeviceRecord {
  std::string name;
  bool on_device = false;           // else a call of the runtime, or the recorder's own work
  int32_t device = -1;              // of one on a device
  int64_t place = 0;                // its stream, or the thread that called (OpTape::is_thread)
  int64_t begin = 0, duration = 0;  // by now_ns()
  uint32_t link = 0;                // the same of a call and what it started; 0: none
  KernelDetail kernel{};            // of a kernel, but for its node
  int64_t bytes = 0;                // of a copy
};

// The innermost op of a tape that ran at an instant.
class OpFinder {
 public:
  explicit OpFinder(const OpTape& tape);   // must outlive this
  const OpRecord* at(int64_t time) const;  // nullptr: none ran

 private:
  static constexpr size_t kNone = SIZE_MAX;
  const std::vector<OpRecord>& records_;
  std::vector<size_t> outer_;  // by record: the one that holds it
};

// The op that ran on a thread of the system at an instant; nullptr where none did, or nothing is known of the thread.
using OpAt = std::function<const OpRecord*(int64_t thread, int64_t time)>;

// Calls lie on their threads' tracks, what they started on a track for each stream. What a call started has the phase
// of the op that called, a kernel its node as well; without a call in `records` it has neither.
void append_device_events(Trace& trace, std::span<const DeviceRecord> records, const OpAt& op_at,
                          const std::vector<std::string>& node_names);

}  // namespace tbd::pytorch
