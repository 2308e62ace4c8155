// The step interpreter: what every back-end's session does alike. It stages batches, goes through the step list with
// its repeats and micro-batches, counts updates, sums losses, and knows the names of state and of what is captured.
//
// A back-end derives its session and gives a Store of its tensors (store.h) and a LoweredPhase of each phase
// (lowered_phase.h). Where it watches what runs, or has to wait for a device, it overrides a call and calls this one's.
#pragma once
#include <deque>
#include <memory>

#include "worker/phase_runs.h"
#include "worker/program_state.h"
#include "worker/session.h"

namespace tbd {

// Of back-ends that run one op after another: throws Error(unsupported) where several at once are asked for.
void require_one_op_at_once(const LoadOptions& options, std::string_view framework);

class ProgramSession : public Session {
 public:
  void load(const Program& program, const LoadOptions& options) override;
  void write(const TensorMap& values) override;
  TensorMap read(const std::vector<std::string>& prefixes) override;
  // A batch that is refused leaves nothing staged.
  void stage(const TensorMap& batch) override;
  StepReport step(const StepRequest& request) final;
  TensorMap evaluate(const std::string& phase, const TensorMap& batch) final;
  std::string first_non_finite() override;

 protected:
  // Refuses what the back-end cannot run, readies the framework and makes the state, all zero. What the arguments refer
  // to lives as long as the session; so must the store.
  virtual Store& open(const Program& program, const LoadOptions& options) = 0;
  // Adds the slots that the phase's update needs to the store. The session owns the result.
  virtual LoweredPhase& lower(const BoundPhase& phase) = 0;
  // A step whose request is sound. Returns when all it queued is done: an override that calls this waits.
  virtual StepReport run_step(const StepRequest& request);

  // Every weight that is trained becomes its mean over the ranks (World::every). Slots, running statistics and averages
  // over steps stay each rank's own.
  virtual void average_weights();
  // Refuses, for an engine that sums gradients or leaves them alone, what else may be asked of a world.
  static void require_sums_alone(const World& world);

  // What decides the numbers of a rank and the order of its exchanges, but not its place: lines "what: value".
  std::string rank_identity() const;
  // Of the ranks by number, of which an engine adds up what it is given: throws Error(invalid) with the first line in
  // which one differs from rank 0, and both values.
  static void require_alike(const std::vector<std::string>& identities);

  const Program& program() const { return program_; }
  const LoadOptions& options() const { return options_; }

 private:
  void require_place(const RankPlace& place) const;
  void end_step(const StepRequest& request, StepReport& report);
  PhaseRuns& run_alone(const std::string& phase);
  bool takes_part(const PhaseRuns& phase) const;
  void end_evaluation();
  void add_up(StepReport& report);
  void run_phase(PhaseRuns& phase, int64_t repeats, const StepRequest& request, StepReport& report);

  Program program_;
  LoadOptions options_;
  std::deque<StepEntry> evaluations_;  // of the phases outside the step list
  std::vector<std::unique_ptr<BoundPhase>> bound_;
  std::vector<PhaseRuns> runs_;    // in the order of the program
  std::vector<PhaseRuns*> steps_;  // in the order of the step list
  std::optional<ProgramState> state_;
  PhaseRuns* evaluated_ = nullptr;  // while it alone is staged and run
  bool staged_ = false;
};

}  // namespace tbd
