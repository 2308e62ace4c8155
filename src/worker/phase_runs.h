// One phase in the steps of a session: which of the batch's tensors its micro-batches read, its updates and their
// count, its loss, and what a capturing step keeps.
#pragma once
#include "worker/lowered_phase.h"

namespace tbd {

class PhaseRuns {
 public:
  // `entry`: where the step list runs the phase; null where it does not. All outlive this.
  PhaseRuns(const BoundPhase& bound, LoweredPhase& lowered, const StepEntry* entry, const LoadOptions& options);

  const std::string& name() const { return bound_.phase.name; }
  const StepEntry* entry() const { return entry_; }

  // The tensors of a batch that the phase reads, in the order in which `stage` takes them. Throws Error(invalid) where
  // one is missing or has another shape.
  std::vector<const HostTensor*> find_inputs(const TensorMap& batch) const;
  void stage(const std::vector<const HostTensor*>& values);
  void unstage() { lowered_.begin_staging(0); }

  // `repeats` updates, each over all micro-batches. The loss of the last one.
  double run(int64_t repeats, const StepRequest& request);
  // Valid rows of ragged results in the last `run`, over all micro-batches; nullopt where the phase has none.
  const std::optional<int64_t>& rows() const { return rows_; }
  // The loss of `run` since `forget_loss`.
  const std::optional<double>& loss() const { return loss_; }
  void forget_loss() { loss_.reset(); }
  // Of a step on several ranks: what is this one's share of a sum, the loss of `run` and with capture its terms. Empty
  // where the phase did not run. And what the sums are.
  std::vector<double> shares() const;
  void set_sums(std::span<const double> sums);

  // Updates that were applied since the state began: what bias corrections count.
  int64_t applied_updates() const { return applied_updates_; }
  void set_applied_updates(int64_t count) { applied_updates_ = count; }

  // Of the last update, by the names of a step's files; only with capture: term/, output/, grad/.
  const TensorMap& captured() const { return captured_; }
  // "grad/<p>", as far as the back-end keeps gradients; empty when none.
  std::string first_non_finite_gradient();

 private:
  struct Input {
    size_t micro_batch;
    ValueId id;
    std::string name;            // as the batch names it
    std::optional<size_t> term;  // whose norm it is
  };
  void list_inputs();
  double update(int64_t repeat, const StepRequest& request, int64_t count_offset);
  void count_rows();
  void capture();
  void capture_terms();

  const BoundPhase& bound_;
  LoweredPhase& lowered_;
  const StepEntry* entry_;
  int64_t samples_;            // of one update
  double own_share_;           // of a gradient, over what a norm makes of it: 1 where ranks sum gradients
  size_t staged_;              // micro-batches with inputs of their own
  std::vector<Input> inputs_;  // of all of them
  std::vector<double> norms_;  // of all of them, one per loss term
  int64_t applied_updates_ = 0;
  std::optional<double> loss_;
  std::optional<int64_t> rows_;
  std::vector<double> term_sums_;  // over the micro-batches of one update
  TensorMap captured_;
};

}  // namespace tbd
