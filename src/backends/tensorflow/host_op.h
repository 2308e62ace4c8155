// Functions of src/host as a TensorFlow op with a kernel of our own, so that a step with a host call stays one run.
#pragma once
#include <span>

#include "backends/tensorflow/graph.h"
#include "graph/op.h"

namespace tbd::tensorflow {

inline constexpr const char* kHostOp = "TbdHostCall";

// Adds the op and, once a process, makes it known to TensorFlow. Operands lie row-major; so do the results. An extent
// of -1 in the shapes of results is known when the op runs: by its operands, or, of axis 0 of ragged results, by the
// call's count of rows, to which these are then cut.
TF_Operation* add_host_op(TfGraph& graph, const HostCall& call, std::span<const TF_Output> operands,
                          std::span<const Shape> results);

}  // namespace tbd::tensorflow
