// One phase on torch: forward node by node, backward by autograd, update, and what a capturing step keeps.
#pragma once
#include <memory>
#include <optional>

#include "backends/pytorch/optimizer.h"
#include "backends/pytorch/phase_trace.h"
#include "backends/pytorch/phase_watch.h"
#include "backends/pytorch/plan.h"
#include "backends/pytorch/weights.h"

namespace tbd::pytorch {

struct PhaseOptions {
  Bindings bindings;
  int64_t world = 1;
  bool capture = false;
  bool obey_liveness = true;       // tests compare both ways
  MemoryLedger* ledger = nullptr;  // told where memory goes; its numbers of this phase's nodes begin with first_node
  int32_t first_node = 0;
  OpRecorder* recorder = nullptr;  // of pass trace
};

class PhaseRunner {
 public:
  PhaseRunner(const Program& program, const Phase& phase, Weights& weights, const PhaseOptions& options);

  const Graph& graph() const { return graph_; }
  const Phase& phase() const { return phase_; }
  // Samples of one update: bindings N x accumulate x world.
  int64_t global_batch() const { return global_batch_; }
  // Inputs of the loss as labels only: torch wants these in 64 bits.
  bool is_label(const std::string& input) const;

  // Turns on gradients for what this phase trains, off for what else it reads.
  void enter();
  // The inputs of the next run; `values` in the order of graph().values, undefined where it is no input.
  void set_inputs(const TensorList& inputs, const std::vector<double>& norms);
  // Forward and backward of one micro-batch; gradients add up in the parameters. Returns the loss in double.
  double run();
  // The update after the last micro-batch; false when a non-finite gradient made it skip. Frees the gradients unless
  // `keep_gradients`.
  bool update(int64_t schedule_step, int64_t count_offset, std::optional<double> lr, bool keep_gradients);
  bool trains() const { return rule_ != nullptr; }

  // The first trained parameter whose gradient holds an inf or nan, while gradients are kept; "grad/<p>" or empty.
  std::string first_non_finite_gradient() const;
  // term/, output/ and grad/ of the last run or update (capture only), by the names of a step's files.
  const std::map<std::string, at::Tensor>& captured() const { return captured_; }
  void begin_capture();

 private:
  void forward();
  template <class Watch>
  void forward_told(Watch& watch);
  PhaseTrace* traced() { return trace_ && trace_->recording() ? &*trace_ : nullptr; }
  void settle_what_is_kept();
  void backward();
  double collect_losses();
  void capture_gradients(const TensorList& gradients);
  TensorList gradients() const;

  const Phase& phase_;
  Graph graph_;
  Plan plan_;
  PhaseOptions options_;
  int64_t global_batch_;
  std::optional<PhaseWatch> watch_;
  std::optional<PhaseTrace> trace_;
  std::vector<at::Tensor> values_;          // by ValueId
  std::vector<double> norms_;               // per loss term
  std::vector<ValueId> results_;            // of all nodes
  std::vector<at::Tensor> terms_;           // per loss term, before its norm, while a run lasts
  std::vector<std::string> trained_names_;  // in the order of the groups
  std::vector<at::Tensor> frozen_;          // parameters read but not trained
  std::unique_ptr<UpdateRule> rule_;
  std::optional<Average> average_;
  LossScale loss_scale_;
  int64_t applied_updates_ = 0;
  std::map<std::string, double> term_sums_;  // over the micro-batches of one update
  std::map<std::string, at::Tensor> captured_;
};

}  // namespace tbd::pytorch
