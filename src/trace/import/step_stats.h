// TensorFlow's step statistics: a serialised RunMetadata or StepStats (tensorflow/core/framework/step_stats.proto),
// read as wire bytes.
#pragma once
#include <string_view>

#include "trace/import/source.h"
#include "trace/trace.h"

namespace tbd {

// Appends ops (begin and end of the op itself: queueing is left out) and allocation records. Ops of a device's streams
// become kernels; of the streams only the numbered ones count where both they and "stream:all" are there. The name is
// the op's type where the label says it, the node goes to the detail. Malformed ops are passed over, a malformed device
// ends the reading: faults that say where, or Error(invalid) when no whole device came before.
void import_step_stats(std::string_view message, Trace& trace);
void import_step_stats(ByteSource& source, Trace& trace);

}  // namespace tbd
