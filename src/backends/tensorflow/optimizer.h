// The update of one phase as ops of the graph: clip, decay, update, average. Gradients are sums over all micro-batches.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "backends/tensorflow/weights.h"
#include "graph/schedule.h"

namespace tbd::tensorflow {

// A placeholder whose value changes from step to step.
struct StepScalar {
  TF_Output to;
  DType dtype;
  // `count` is the number of this update, from 1.
  std::function<double(const UpdateScalars& scalars, int64_t count)> value;
};

struct UpdateOps {
  std::vector<TF_Operation*> targets;
  std::vector<StepScalar> scalars;
};

// `gradients` in the order of Phase::wrt, laid out as the parameters. `buffers` are the float buffers of the phase by
// name as its nodes left them, for the average.
UpdateOps add_update(const Update& update, TfGraph& graph, Weights& weights, std::vector<TF_Output> gradients,
                     const std::map<std::string, TF_Output>& buffers);

// "ResourceApplyMomentum": which TensorFlow ops an optimizer becomes, for the record.
std::string optimizer_path(Optimizer::Kind kind);

}  // namespace tbd::tensorflow
