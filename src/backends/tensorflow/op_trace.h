// Pass trace: what the ops of traced steps did, from TensorFlow's step statistics to a trace.
#pragma once
#include "backends/tensorflow/origins.h"
#include "backends/tensorflow/run_record.h"
#include "trace/trace.h"

namespace tbd::tensorflow {

// Appends the run's ops, and on a GPU what they started there, on the clock of now_ns(): name (TensorFlow's type of the
// op), the node of the program, phase, shapes and types of its operands as they lie in memory, math type; the backward
// ops of a run share a link with their forward ones. TensorFlow does not say on which thread an op ran: what does not
// overlap lies on one track. The trace's fact "op clock" says how exact the times are.
void append_ops(const RunRecord& run, const OpOrigins& origins, const std::vector<std::string>& nodes, Trace& trace);

}  // namespace tbd::tensorflow
