// One phase on MXNet: segments of the graph bound once, host calls between them, update, and what a capturing step
// keeps.
#pragma once
#include <set>

#include "backends/mxnet/optimizer.h"
#include "backends/mxnet/segment.h"
#include "backends/mxnet/statistics.h"
#include "trace/event.h"

namespace tbd::mxnet {

class OpTracer;

struct PhaseOptions {
  Bindings bindings;
  int64_t world = 1;
  bool capture = false;
  OpTracer* tracer = nullptr;  // of pass trace
};

class PhaseRunner {
 public:
  PhaseRunner(const Program& program, const Phase& phase, Weights& weights, const PhaseOptions& options);

  const Graph& graph() const { return graph_; }
  const Phase& phase() const { return phase_; }
  // Samples of one update: bindings N x accumulate x world.
  int64_t global_batch() const { return global_batch_; }
  bool trains() const { return rule_.has_value(); }

  // The array that an input of the graph is bound to.
  const Array& input(ValueId id) const { return arrays_[static_cast<size_t>(id)]; }
  // Forward and backward of one micro-batch on the bound inputs; gradients add up. Returns the loss in double.
  double run();
  // Before the first micro-batch of an update: clears gradients that add up, and what was captured.
  void begin();
  // The update after the last micro-batch.
  void update(int64_t schedule_step, int64_t count_offset, std::optional<double> lr);

  // The arrays that are the phase's own.
  void tell(MemoryWatch& memory) const;
  // Appends the executors that have run.
  void executors_run(std::vector<const Executor*>& into) const;

  // The first trained parameter whose last gradient holds an inf or nan; "grad/<p>" or empty.
  std::string first_non_finite_gradient() const;
  // term/, output/ and grad/ of the last run or update (capture only), by the names of a step's files.
  const TensorMap& captured() const { return captured_; }

 private:
  struct HostNode {
    const BoundNode* node;
    size_t before;  // the segment that it follows
  };
  void split();
  void bind_variables();
  void enter(EventPhase part) const;
  void build_segments();
  // What a segment hands out, and who keeps the arrays.
  struct HandedOut {
    std::vector<Head> heads;
    std::vector<std::function<void(const std::vector<Array>&)>> takers;
  };
  HandedOut handed_out(size_t segment);
  size_t later_readers(ValueId id, size_t segment) const;
  bool leaves(ValueId id, size_t segment) const;
  Bound bound(ValueId id) const;
  bool needs(ValueId id) const { return differentiated_[static_cast<size_t>(id)]; }
  // Whether the backward pass updates the running statistics of a batch_norm.
  bool by_backward(const BoundNode& node) const;
  void call_host(const HostNode& call);
  void backward();
  double collect_losses();

  const Phase& phase_;
  Graph graph_;
  Weights& weights_;
  PhaseOptions options_;
  int64_t global_batch_;
  std::vector<bool> differentiated_;             // by ValueId: a gradient is computed
  std::vector<std::span<const BoundNode>> cut_;  // the nodes of each segment
  std::vector<HostNode> host_calls_;
  std::vector<std::set<size_t>> readers_;           // by ValueId: the segments that read it
  std::vector<Array> arrays_, gradients_;           // by ValueId; of results only what leaves a segment
  std::vector<Array> terms_;                        // per loss term
  std::vector<std::unique_ptr<Segment>> segments_;  // null where there is nothing to run
  std::vector<ForwardStatistics> statistics_;
  std::optional<HeldVariances> variances_;
  std::vector<Array> cleared_;              // gradients of parameters that add up
  std::vector<Array> cleared_each_run_;     // and of values between segments
  std::vector<std::string> trained_names_;  // in the order of the groups
  std::vector<Array> trained_gradients_;
  std::optional<UpdateRule> rule_;
  std::optional<Average> average_;
  int64_t applied_updates_ = 0;
  bool ran_ = false;
  std::map<std::string, double> term_sums_;  // over the micro-batches of one update
  TensorMap captured_;
};

}  // namespace tbd::mxnet
