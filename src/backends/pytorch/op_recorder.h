// Records what torch runs while a traced step runs, on all of its threads, by callbacks of at::RecordFunction; and
// which node of the graph each op belongs to. Ops that torch runs inside its parallel loops, without its dispatcher,
// are not seen: such a loop is part of the op that opened it.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backends/pytorch/device_events.h"
#include "backends/pytorch/node_sequences.h"
#include "backends/pytorch/op_tape.h"
#include "trace/trace.h"

namespace tbd::pytorch {

class OpRecorder {
 public:
  // Of a session that computes fp32 products in `fp32_math`: "fp32" or "tf32".
  explicit OpRecorder(std::vector<std::string> node_names, std::string fp32_math = "fp32");

  // While it lives, ops are recorded, those of this thread as the calls below say. One at a time in a process; none
  // alive, torch runs no callback.
  class Recording {
   public:
    explicit Recording(OpRecorder& recorder);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    OpRecorder& recorder_;
    uint64_t callback_;  // at::CallbackHandle
  };
  bool recording() const { return recording_; }

  // Ends the stretch that runs, and begins one, which is an event of kind phase called `name`; of no name: no event.
  void enter(EventPhase phase, const std::string& name);
  void leave();
  // Whose ops run from now on, outside of autograd's functions; -1: nobody's.
  void execute(int32_t node) { node_ = node; }
  // From now on autograd's functions, and what they run, are the nodes' that these say. nullptr: they are part of what
  // executes.
  void differentiate(const NodeSequences* nodes);

  // Appends what was recorded and what the ops had a device do, and forgets it. Not while it records.
  void hand_over(Trace& trace, std::vector<DeviceRecord> on_devices = {});

 private:
  struct Stretch {
    int64_t begin, end;
    EventPhase phase;
    std::string name;
  };
  OpTape& tape();  // of the calling thread
  void begin_recording();
  int32_t node_of_autograd(const at::RecordFunction& function, OpTape& tape) const;
  OpRecord begun(const at::RecordFunction& function, OpTape& tape) const;
  void append_stretches(Trace& trace);
  void append_devices(Trace& trace, std::vector<DeviceRecord> records) const;

  const std::vector<std::string> node_names_;
  const std::string fp32_math_;
  const uint64_t id_;  // of the process's recorders
  bool recording_ = false;
  EventPhase phase_ = EventPhase::unknown;
  int32_t node_ = -1;
  const NodeSequences* nodes_ = nullptr;
  uint64_t stepping_thread_ = 0;  // by torch's count
  std::vector<Stretch> stretches_;
  std::mutex mutex_;  // of the list below; each tape is its thread's
  std::vector<std::unique_ptr<OpTape>> tapes_;
};

}  // namespace tbd::pytorch
