// All that is said about one rank of a trace; every number an exact integer of nanoseconds (docs/trace.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/collectives.h"
#include "analysis/trace/critical_path.h"
#include "analysis/trace/kernel_table.h"
#include "analysis/trace/launch_queue.h"
#include "analysis/trace/sweep.h"

namespace tbd {

enum class TraceWindow {
  activity,  // from the first activity's begin to the last one's end
  steps,     // from the first step's begin to the last one's end
  trace,     // from the first event's begin to the last one's end
};
TraceWindow trace_window_from(std::string_view name);  // throws Error(usage)

struct StreamAnalysis {
  int32_t device = -1;  // -1: a host thread
  int64_t stream = 0;   // or the thread
  std::string name;
  int64_t busy_ns = 0, idle_ns = 0;
  CauseTimes causes{};  // sum to idle_ns
  int64_t activities = 0;
};

struct StepAnalysis {
  std::string name;
  int64_t start_ns = 0, duration_ns = 0;  // start as the trace has it
};

struct RankAnalysis {
  int32_t rank = 0;
  bool on_device = false;
  TimeSpan window;
  MaskTimes masks;      // sum to the window
  CauseTimes causes{};  // of the device: sum to masks.idle()
  int64_t delay_ns = 0;
  std::optional<QueueUse> queue;        // absent where the processor is the device
  std::vector<StreamAnalysis> streams;  // threads with ops that work where the processor is the device
  std::vector<KernelGroup> kernels;     // by name and detail, all classes
  std::vector<KernelGroup> dispatch;    // what ops did besides where the processor is the device, by name
  std::vector<StepAnalysis> steps;
  PathTimes path;  // of all steps, or of the window where there are none
  int64_t path_steps = 0;
  Launches launches;  // call_of is left out
  std::vector<CollectiveRun> collectives;
  int64_t events = 0;
  int64_t beyond = 0;  // events left out, RankEvents::beyond
  // Gaps of more than an hour between activities; the first one, and the name of the activity after it.
  int64_t clock_jumps = 0;
  TimeSpan first_jump;
  std::string jump_before;
};

// Throws Error(invalid) when the rank has nothing that keeps a device busy, or no step where steps are asked for.
RankAnalysis analyze_rank(const Trace& trace, int32_t rank, TraceWindow window = TraceWindow::activity);

}  // namespace tbd
