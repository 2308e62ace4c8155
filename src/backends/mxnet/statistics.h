// Running statistics of batch_norm. MXNet updates them in the backward pass, with the biased variance and a momentum of
// single precision; ours take the unbiased one, and move in every forward pass.
#pragma once
#include <functional>

#include "backends/mxnet/weights.h"
#include "graph/graph.h"

namespace tbd::mxnet {

// Holds the running variances of a phase as MXNet's kernels want them: without the factor n / (n - 1), or as they are
// where they are updated here, or frozen: then they are lent, and a phase that evaluates changes nothing. Throws
// Error(unsupported) where one buffer is used with two factors.
class HeldVariances {
 public:
  // `by_backward`: whether the backward pass reaches the node.
  HeldVariances(const Graph& graph, const std::function<bool(const BoundNode&)>& by_backward, Weights& weights);
  void hold() const;

 private:
  struct Wanted {
    double factor;
    bool updated;
  };
  std::map<Held*, Wanted> wanted_;
};

// One batch_norm that no backward pass reaches: running = (1 - m) running + m batch, by hand after the forward pass.
class ForwardStatistics {
 public:
  ForwardStatistics(const Graph& graph, const BoundNode& node, Weights& weights, std::vector<Array> moments);
  void update() const;

 private:
  Held *mean_, *variance_;
  std::vector<Array> moments_;  // mean, biased variance
  double momentum_, unbiased_;
};

// batch_norm whose running statistics move with the batch.
bool updates_statistics(const BoundNode& node);
// Whether MXNet's own update serves. It keeps 1 - m in single precision and takes the difference from 1: not in double,
// where that would be wrong by 2e-8, nor where m is so small that it loses more than two bits; of 0.01 it loses four.
bool backward_updates(const BatchNorm& op, DType statistics);

}  // namespace tbd::mxnet
