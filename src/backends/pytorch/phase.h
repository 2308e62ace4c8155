// One phase on torch: forward node by node, backward by autograd, update.
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "backends/pytorch/exchange.h"
#include "backends/pytorch/optimizer.h"
#include "backends/pytorch/phase_trace.h"
#include "backends/pytorch/phase_watch.h"
#include "backends/pytorch/plan.h"
#include "backends/pytorch/step_graph.h"
#include "backends/pytorch/weights.h"
#include "worker/lowered_phase.h"

namespace tbd::pytorch {

class PhaseRunner;

// What the phases of a session share.
struct SessionContext {
  Weights& weights;
  at::Device device = at::kCPU;
  Layout layout = Layout::nchw;
  bool obey_liveness = true;                      // tests compare both ways
  MemoryLedger* ledger = nullptr;                 // told where memory goes
  OpRecorder* recorder = nullptr;                 // of pass trace
  const CopyStream* copies = nullptr;             // of batches to a GPU
  Exchange* exchange = nullptr;                   // of gradients with the other ranks
  const Shards* shards = nullptr;                 // of the optimizer's state over them
  std::map<std::string, at::Tensor> inputs = {};  // of the staged batch, by name and type
  MakeStepGraph graphs = {};                      // set: phases are replayed
  const PhaseRunner* entered = nullptr;           // whose parameters require gradients
  const PhaseRunner* left = nullptr;              // whose gradients the last update, or a failed run, left behind
};

class PhaseRunner final : public LoweredPhase {
 public:
  PhaseRunner(const BoundPhase& bound, SessionContext& context);

  void begin_staging(size_t micro_batches) override;
  void stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) override;
  std::span<const double> run(const MicroBatch& micro) override;
  std::optional<int64_t> rows() const override { return rows_; }
  bool skipped() const override { return skipped_; }
  HostTensor output(size_t index) override { return to_host(outputs_.at(index)); }
  std::optional<HostTensor> gradient(size_t index) override;

 private:
  void begin();
  template <class Work>
  void arrange(const Work& work);
  void forward();
  template <class Op>
  auto lowered(const Op& op, const Args& in);
  void settle_rows(const HostCall& call, std::vector<at::Tensor>& results);
  template <class Watch>
  void forward_told(Watch& watch);
  PhaseTrace* traced() { return trace_ && trace_->recording() ? &*trace_ : nullptr; }
  void set_inputs(const TensorList& inputs);
  void run_nodes();
  void run_once(const TensorList& inputs, bool updates);
  void run_replayed(const TensorList& inputs, bool updates);
  void copy_inputs(const TensorList& inputs);
  void settle_what_is_kept();
  void backward();
  void read_terms();
  void update();
  TensorList gradients() const;
  bool finite_on_all(bool finite) const;
  void drop_gradients() const;

  const BoundPhase& bound_;
  const Graph& graph_;
  SessionContext& context_;
  Plan plan_;
  std::optional<PhaseWatch> watch_;
  std::optional<PhaseTrace> trace_;
  std::vector<bool> is_label_;         // by ValueId: an input that is read as labels only; torch wants these in 64 bits
  std::vector<TensorList> staged_;     // by micro-batch, then ValueId; undefined where it is no input
  std::vector<at::Tensor> values_;     // by ValueId
  std::vector<ValueId> results_;       // of all nodes
  std::vector<at::Tensor> terms_;      // per loss term, before its norm: while a run lasts, or of the graph
  std::vector<double> term_values_;    // of the last run
  std::vector<at::Tensor> outputs_;    // of the last run, with capture
  std::vector<at::Tensor> gradients_;  // of the last update, with capture
  std::vector<at::Tensor> frozen_;     // parameters read but not trained
  TensorList trained_;                 // parameters, in the order of the update's groups
  std::unique_ptr<UpdateRule> rule_;
  std::optional<Average> average_;
  LossScale loss_scale_;
  std::unique_ptr<GradientExchange> exchange_;  // of several ranks
  std::vector<int64_t> owners_;                 // of trained_, of shards
  bool exchanges_ = false;                      // in this run: it is the last one before the update
  std::unique_ptr<StepGraph> step_graph_;
  TensorList graph_inputs_;      // that the graph reads, and
  TensorList copied_;            // those that were copied into them last
  std::optional<int64_t> rows_;  // of the last run
  int64_t runs_ = 0;
  size_t begun_ = 0;    // nodes of this forward pass
  bool finite_ = true;  // all terms of this update
  bool skipped_ = false;
};

}  // namespace tbd::pytorch
