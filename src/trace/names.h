// What names of events say where the recorded kind does not: data, not code (names_test.cc).
#pragma once
#include <string_view>

#include "trace/event.h"

namespace tbd {

// A kernel of a communication library: NCCL, RCCL, oneCCL, MSCCL, NVSHMEM.
bool is_collective_kernel(std::string_view name);
// "Memcpy HtoD (Pageable -> Device)": to the device.
CopyDirection copy_direction(std::string_view name);
// "ProfilerStep#12" and the like.
bool is_step(std::string_view name);
// Ranges in which a loop fetches a batch.
bool is_input(std::string_view name);
// Runtime or driver calls by which the host waits for a device.
bool is_sync_call(std::string_view name);
// Names of off_cpu events: the thread could have run, and another had its processor or its quota was used up; or it
// waited of its own will.
constexpr std::string_view kPreempted = "preempted", kWaiting = "waiting";
// A fault of a trace: some of these events are not there, and the time of theirs counts as the ops'.
constexpr std::string_view kSwitchesLost = "switches of threads lost at least";
// The phase that a range or an op names: "Optimizer.step#SGD.step" is update.
EventPhase phase_of(std::string_view name);

}  // namespace tbd
