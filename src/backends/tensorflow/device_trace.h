// Pass trace on a GPU: kernels, copies and waits that TensorFlow's profiler of devices saw in a run. With trace level
// FULL_TRACE it adds them to the step statistics as devices of its own, beside the executor's rows of ops
// (tensorflow/core/profiler/convert/xplane_to_step_stats.h). Unverified on hardware.
#pragma once
#include "backends/tensorflow/origins.h"
#include "backends/tensorflow/run_record.h"
#include "trace/trace.h"

namespace tbd::tensorflow {

// Appends them on the clock of now_ns(), each with the phase of the op that started it and a kernel with its node; both
// are unknown where the profiler named no op. TensorFlow hands begins and durations over as whole microseconds, rounded
// down, which the fact "kernel clock" says. Returns how many kernels there were.
int64_t append_device_rows(const RunRecord& run, const OwnClock& clock, const OpOrigins& origins,
                           const std::vector<std::string>& nodes, Trace& trace);

}  // namespace tbd::tensorflow
