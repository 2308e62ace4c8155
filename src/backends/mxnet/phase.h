// One phase on MXNet: segments of the graph bound once, host calls between them, update.
#pragma once
#include <map>
#include <set>

#include "backends/mxnet/exchange.h"
#include "backends/mxnet/optimizer.h"
#include "backends/mxnet/segment.h"
#include "backends/mxnet/statistics.h"
#include "trace/event.h"
#include "worker/lowered_phase.h"

namespace tbd::mxnet {

class OpTracer;

// What the phases of a session share.
struct SessionContext {
  Weights& weights;
  OpTracer* tracer = nullptr;                // of pass trace
  Exchange* exchange = nullptr;              // of several ranks
  bool sums_gradients = true;                // over them
  std::map<std::string, Array> inputs = {};  // by name and type; memory reused from batch to batch
};

class PhaseRunner final : public LoweredPhase {
 public:
  PhaseRunner(const BoundPhase& bound, SessionContext& context);

  void begin_staging(size_t micro_batches) override;
  void stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) override;
  std::span<const double> run(const MicroBatch& micro) override;
  std::optional<int64_t> rows() const override { return rows_; }
  HostTensor output(size_t index) override { return outputs_.at(index); }
  std::optional<HostTensor> gradient(size_t index) override;

  // The arrays that are the phase's own.
  void tell(MemoryWatch& memory) const;
  // Appends the executors that have run.
  void executors_run(std::vector<const Executor*>& into) const;

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
  void begin();
  void forward();
  void backward();
  void read_terms();
  void capture_outputs();
  void update(const UpdateStep& step);

  // Copied into the phase's own arrays before a micro-batch runs. Nothing where the batch was put there at once, as it
  // is when there is one micro-batch.
  using Copies = std::vector<std::pair<Array, Array>>;  // from, to

  const BoundPhase& bound_;
  const Graph& graph_;
  SessionContext& context_;
  Weights& weights_;
  std::vector<Copies> staged_;                   // by micro-batch
  std::vector<bool> differentiated_;             // by ValueId: a gradient is computed
  std::vector<std::span<const BoundNode>> cut_;  // the nodes of each segment
  std::vector<HostNode> host_calls_;
  std::vector<std::set<size_t>> readers_;           // by ValueId: the segments that read it
  std::vector<Array> arrays_, gradients_;           // by ValueId; of results only what leaves a segment
  std::vector<Array> terms_;                        // per loss term
  std::vector<std::unique_ptr<Segment>> segments_;  // null where there is nothing to run
  std::vector<ForwardStatistics> statistics_;
  std::optional<HeldVariances> variances_;
  std::vector<Array> cleared_;           // gradients of parameters that add up
  std::vector<Array> cleared_each_run_;  // and of values between segments
  std::vector<Array> trained_gradients_;
  std::optional<UpdateRule> rule_;
  std::unique_ptr<GradientExchange> exchange_;  // of several ranks
  std::optional<Average> average_;
  bool ran_ = false;
  std::vector<double> term_values_;             // of the last run
  std::optional<int64_t> rows_;                 // valid ones of ragged results: all are computed, in fixed extents
  std::vector<HostTensor> outputs_;             // of the last run, with capture
  std::vector<HostTensor> captured_gradients_;  // of the last update, with capture
};

}  // namespace tbd::mxnet
