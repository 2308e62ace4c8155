// One phase as a part of the TensorFlow graph: forward, gradients, update; and one run of it.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "backends/tensorflow/exchange.h"
#include "backends/tensorflow/optimizer.h"
#include "backends/tensorflow/origins.h"
#include "backends/tensorflow/run_record.h"
#include "graph/ragged_rows.h"
#include "worker/lowered_phase.h"

namespace tbd::tensorflow {

// What the phases of a session share.
struct SessionContext {
  TfGraph& graph;
  Weights& weights;
  uint64_t seed = 0;
  OpOrigins* origins = nullptr;                                   // told of what the phases add
  bool cuts_rows = true;                                          // of ragged results, where nothing is captured
  Exchange* exchange = nullptr;                                   // of several ranks
  TfSession* session = nullptr;                                   // once the graph is complete
  std::map<std::string, std::shared_ptr<TF_Tensor>> inputs = {};  // of the staged batch, by name, type and layout
  std::function<void(RunRecord)> recorded = {};                   // where it is set runs are traced, and told to it
  int64_t runs = 0;
};

class PhaseRunner final : public LoweredPhase {
 public:
  PhaseRunner(const BoundPhase& bound, SessionContext& session);

  void begin_staging(size_t micro_batches) override;
  void stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) override;
  // One run of the session; the last micro-batch's updates.
  std::span<const double> run(const MicroBatch& micro) override;
  std::optional<int64_t> rows() const override { return rows_; }
  HostTensor output(size_t index) override { return captured_outputs_.at(index); }
  std::optional<HostTensor> gradient(size_t index) override;

 private:
  enum class Part { first, middle, last };  // of the micro-batches of one update

  void claim(int32_t node, EventPhase phase);  // for the origins, what was added since the last claim
  void add_inputs(Weights& weights);
  void add_nodes(TfGraph& graph);
  void add_backward(TfGraph& graph, Weights& weights);
  std::vector<TF_Output> gradients(TfGraph& graph);
  std::vector<TF_Output> accumulated(TfGraph& graph, Weights& weights, const std::vector<TF_Output>& gradients);
  std::vector<bool> differentiated_twice() const;
  std::vector<TensorHandle> run_session(const std::vector<Feed>& feeds, const std::vector<TF_Output>& fetches,
                                        const std::vector<TF_Operation*>& targets);
  void collect(const std::vector<TensorHandle>& fetched, bool updated);

  const BoundPhase& bound_;
  const Phase& phase_;
  const Graph& graph_;
  RaggedRows ragged_;
  SessionContext& session_;
  PhaseContext context_;
  std::vector<std::vector<std::shared_ptr<TF_Tensor>>> staged_;  // by micro-batch, then ValueId; null: no input
  std::vector<Operand> values_;                                  // by ValueId
  std::vector<TF_Operation*> always_;                            // targets of each run: running statistics
  std::vector<TF_Operation*> targets_[3];                        // by Part
  std::vector<Operand> gradients_;                               // sums over the micro-batches, of what is trained
  std::vector<StepScalar> scalars_;
  std::vector<double> term_values_;             // of the last run
  std::optional<int64_t> rows_;                 // of the last run
  std::vector<HostTensor> captured_outputs_;    // of the last run, with capture
  std::vector<HostTensor> captured_gradients_;  // of the last update, with capture
};

}  // namespace tbd::tensorflow
