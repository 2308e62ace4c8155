// A run of nodes between host calls as one executor.
#pragma once
#include <functional>

#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {

// The place of a value among a graph's values.
constexpr size_t index(ValueId id) { return static_cast<size_t>(id); }

// A value that a segment hands out. With `gradient`, backward starts from it: the array holds d loss / d value.
struct Head {
  ValueId value;
  Array gradient = {};
  bool moments = false;  // instead of the value: its mean and biased variance per channel, as two outputs
};

class Segment {
 public:
  // `bound` tells what a variable that the nodes read is bound to.
  Segment(const Graph& graph, std::span<const BoundNode> nodes, const std::vector<Head>& heads,
          const std::function<Bound(ValueId)>& bound);

  Executor& executor() { return *executor_; }
  const Executor& executor() const { return *executor_; }
  // The arrays of variables that no value of the graph is bound to.
  const Constants& constants() const { return constants_; }
  void forward() { executor_->forward(); }
  // Nothing where no head has a gradient.
  void backward();
  // The outputs of a head, stable for the segment's life: one, or mean and variance.
  std::vector<Array> outputs(size_t head) const;

 private:
  std::vector<size_t> first_output_;  // per head, and one past the last
  std::vector<Array> head_gradients_;
  bool differentiated_ = false;
  Constants constants_;
  std::optional<Executor> executor_;
};

}  // namespace tbd::mxnet
