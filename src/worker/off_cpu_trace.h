// Pass trace: when the process's threads had no processor in a traced run.
#pragma once
#include "measure/switch_recorder.h"
#include "trace/trace.h"

namespace tbd {

class OffCpuTrace {  // records from its construction on, made by the thread of the step loop
 public:
  // Ends the recording and appends what it saw as events of kind off_cpu on the tracks of their threads: "preempted" of
  // every thread, "waiting" of this one (trace/names.h). The fact "off-CPU" says of how many threads, or why of none;
  // what was lost is a fault.
  void append(Trace& trace);

 private:
  SwitchRecorder recorder_;
};

// "recorded for 3 threads", "recorded for 3 threads, not for 2: reason", "not recorded: reason".
std::string off_cpu_fact(size_t threads, size_t without, const std::string& reason);

}  // namespace tbd
