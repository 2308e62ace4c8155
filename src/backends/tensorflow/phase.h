// One phase as a part of the TensorFlow graph: forward, gradients, update; and one run of it.
#pragma once
#include <memory>
#include <optional>

#include "backends/tensorflow/optimizer.h"
#include "backends/tensorflow/origins.h"
#include "backends/tensorflow/run_record.h"
#include "graph/graph.h"

namespace tbd::tensorflow {

struct PhaseOptions {
  Bindings bindings;
  int64_t world = 1;
  bool capture = false;
  uint64_t seed = 0;
  OpOrigins* origins = nullptr;  // told of what the phase adds, its nodes counted from `first_node`
  int32_t first_node = 0;
};

class PhaseRunner {
 public:
  // The inputs of one run by ValueId, nullptr where it is no input; and the norm of each loss term.
  struct Batch {
    std::vector<std::shared_ptr<TF_Tensor>> inputs;
    std::vector<double> norms;
  };
  // What the update of a run takes beside tensors.
  struct Moment {
    int64_t schedule_step = 1, count_offset = 0;
    std::optional<double> lr;
  };

  PhaseRunner(const Program& program, const Phase& phase, TfGraph& graph, Weights& weights,
              const PhaseOptions& options);

  const Graph& graph() const { return graph_; }
  const Phase& phase() const { return phase_; }
  Layout input_layout(ValueId id) const { return values_[static_cast<size_t>(id)].layout; }
  // Samples of one update: bindings N x accumulate x world.
  int64_t global_batch() const { return global_batch_; }

  void begin_capture() { term_sums_.clear(), captured_.clear(); }
  // Micro-batch `micro` of an update in one run of the session: forward, backward; the last one updates. Returns the
  // loss in double. With `record` the run is traced; its clocks and metadata are left there.
  double run(TfSession& session, const Batch& batch, int64_t micro, const Moment& moment, RunRecord* record = nullptr);
  // term/, output/ and grad/ of the last run or update (capture only), by the names of a step's files.
  const TensorMap& captured() const { return captured_; }

 private:
  enum class Part { first, middle, last };  // of the micro-batches of one update
  struct Fetch {
    std::string name;
    Operand operand;
  };

  void claim(int32_t node, EventPhase phase);  // for the origins, what was added since the last claim
  void add_inputs(Weights& weights);
  void add_nodes(TfGraph& graph);
  void add_backward(TfGraph& graph, Weights& weights);
  std::vector<TF_Output> gradients(TfGraph& graph);
  std::vector<TF_Output> accumulated(TfGraph& graph, Weights& weights, const std::vector<TF_Output>& gradients);
  std::vector<bool> differentiated_twice() const;
  double collect(const std::vector<TensorHandle>& fetched, const Batch& batch, const std::vector<Fetch>& captures);

  const Phase& phase_;
  Graph graph_;
  PhaseOptions options_;
  int64_t global_batch_;
  PhaseContext context_;
  std::vector<Operand> values_;            // by ValueId
  std::vector<TF_Operation*> always_;      // targets of each run: running statistics
  std::vector<TF_Operation*> targets_[3];  // by Part
  std::vector<Fetch> captures_[3];         // by Part
  std::vector<StepScalar> scalars_;
  int64_t applied_updates_ = 0;
  std::map<std::string, double> term_sums_;  // over the micro-batches of one update
  TensorMap captured_;
};

}  // namespace tbd::tensorflow
