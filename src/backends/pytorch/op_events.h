// What a thread's tape holds, as events of a trace.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/pytorch/op_tape.h"
#include "trace/trace.h"

namespace tbd::pytorch {

struct OpNames {
  const std::vector<std::string>& nodes;       // node_names(program)
  const std::string& fp32_math;                // the math type of products of fp32
  const std::map<uint64_t, int64_t>& threads;  // ids of the system by torch's count
};

// On the track of the tape's thread, by begin. An op that has not ended is a fault of the trace.
void append_ops(Trace& trace, const OpTape& tape, const OpNames& names);

}  // namespace tbd::pytorch
