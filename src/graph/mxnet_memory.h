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

}  // namespace tbd::mxnet_memory
