// What one update costs, by parameter element (docs/flops.md, the row "optimizer").
#pragma once
#include "graph/graph.h"

namespace tbd {

// simd, trans and bytes of one update of the graph's trained parameters: clip, decay and averages included, the
// unscaling of fp16 gradients too. Moving averages of buffers are left out.
Cost update_cost(const Graph& graph, const Update& update);

}  // namespace tbd
