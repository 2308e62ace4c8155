#include "worker/off_cpu_trace.h"

#include <unistd.h>

#include "base/text.h"
#include "trace/names.h"

namespace tbd {

std::string off_cpu_fact(size_t threads, size_t without, const std::string& reason) {
  if (threads == 0) return cat("not recorded: ", reason);
  return cat("recorded for ", threads, threads == 1 ? " thread" : " threads",
             without > 0 ? cat(", not for ", without, ": ", reason) : "");
}

void OffCpuTrace::append(Trace& trace) {
  for (const OffCpuSpan& span : recorder_.finish())
    trace.add({.begin = span.begin,
               .duration = span.end - span.begin,
               .name = trace.string(span.preempted ? kPreempted : kWaiting),
               .track = trace.track({.process = getpid(), .thread = span.thread}),
               .kind = EventKind::off_cpu});
  trace.facts["off-CPU"] = off_cpu_fact(recorder_.threads(), recorder_.threads_without(), recorder_.reason());
  if (recorder_.lost() > 0) trace.fault(kSwitchesLost, {}, recorder_.lost());
}

}  // namespace tbd
