// What an executor of MXNet 1.9.1 allocates, from its first run on for as long as it lives: the sources named are those
// of its release.
#pragma once
#include "graph/graph.h"

namespace tbd::mxnet_memory {

// What the executor plans: blocks that results, gradients of results and what ops keep beside share over one step.
struct SharedBlocks {
  Bytes forward;  // when forward ends
  Bytes all;
};
SharedBlocks shared_blocks(const Graph& graph);

// What executors keep beside, on a CPU with AVX2 or later: oneDNN's kernels leave maps in blocks of channels, and an op
// that has no such kernel copies each of them into an array of its own, which it keeps; and temporary space of kernels.
Bytes kernel_bytes(const Graph& graph);

}  // namespace tbd::mxnet_memory
