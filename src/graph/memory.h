// What a graph costs, layer by layer, and how much memory a step is expected to need. No framework is asked: what an
// allocator rounds up, workspaces and the framework's own structures come on top.
#pragma once
#include "graph/keeping.h"

namespace tbd {

struct LayerRow {
  std::string name, kind;
  Shape output;
  int64_t parameters = 0;    // elements of its parameters; shared ones count at their first use
  int64_t forward_macs = 0;  // multiply-accumulates, dense
  int64_t train_flops = 0;   // forward and backward, matrix-like
  Bytes bytes;               // moved at least, forward and backward
  Bytes saved;               // of its result's storage, when backward keeps it, and of what the op keeps beside
};
std::vector<LayerRow> layer_table(const Graph& graph, Keeper keeper = Keeper::pytorch);

// Costs of one step of the whole program: every entry of the step list, times its repeats and micro-batches.
// Bindings hold the batch of one run. An input_gradient counts what it does when it is written out (graph/expand.h).
NodeCost step_cost(const Program& program, const Bindings& bindings);

struct MemoryPrediction {
  Bytes weights;          // parameters and buffers
  Bytes gradients;        // of trained parameters, together
  Bytes optimizer_state;  // slots and moving averages
  Bytes weight_copies;    // weights in the low type
  Bytes feature_maps;  // the most at a time of results that backward reads or that are outputs, once per storage, and
                       // of what ops keep beside
  Bytes inputs;        // one batch
  Bytes backward;      // the most that gradients of results and parameters take, over what backward has let go of;
                       // or, where that is more, what an op of several parts takes in forward
  Bytes kernels;       // of MXNet: copies and workspaces that its ops keep (graph/mxnet_memory.h)
  // What comes and goes with a step, at its worst moment: between the end of forward and the update. Gradients of
  // parameters among it: they are made by backward and let go of after the update, unless micro-batches add them up or
  // the framework updates each when it is made.
  Bytes passing() const { return weight_copies + feature_maps + inputs + backward + kernels; }
  Bytes peak() const { return weights + optimizer_state + passing(); }
};
// One phase alone.
MemoryPrediction predict_memory(const Graph& graph, const Update& update, int64_t accumulate = 1,
                                Keeper keeper = Keeper::pytorch);
// The whole program, an input_gradient as a framework keeps it that differentiates twice (graph/expand.h): what stays
// is summed over the phases, what comes and goes is that of the largest phase. Of ragged rows (graph/ragged_rows.h)
// `rows` are valid in each phase; all of them unless it is given, which bounds every step from above.
MemoryPrediction predict_memory(const Program& program, const Bindings& bindings, std::optional<int64_t> rows = {},
                                Keeper keeper = Keeper::pytorch);

}  // namespace tbd
