// The MXNet session: symbols bound once, one program, the CPU (worker/session.h).
#pragma once
#include "backends/mxnet/phase.h"
#include "worker/session.h"

namespace tbd::mxnet {

class MemoryWatch;
class OpTracer;

class MxnetSession final : public Session {
 public:
  MxnetSession();
  ~MxnetSession() override;

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void write(const TensorMap& values) override;
  TensorMap read(const std::vector<std::string>& prefixes) override;
  void stage(const TensorMap& batch) override;
  StepReport step(const StepRequest& request) override;
  void hand_over(Trace& trace) override;
  std::string first_non_finite() override;
  SessionMemory memory() const override { return {}; }  // MXNet counts its pool for GPUs alone
  void reset_peak_memory() override {}
  std::optional<double> gemm_rate(const std::string& precision, double seconds) override;

 private:
  StepReport run_step(const StepRequest& request);
  StepReport watched_step(const StepRequest& request);
  // The inputs of one run of a phase: what to copy into the phase's own arrays before it runs. Nothing where the batch
  // was put there at once, as it is when a step runs the phase on one batch.
  using Staged = std::vector<std::pair<Array, Array>>;  // from, to
  PhaseRunner& runner(const std::string& phase);
  Staged stage_run(const StepEntry& entry, int64_t run, bool alone, const TensorMap& batch);
  void run_entry(const StepEntry& entry, size_t entry_index, int64_t repeats, const StepRequest& request,
                 StepReport& report);

  Program program_;
  LoadOptions options_;
  std::optional<Weights> weights_;
  std::unique_ptr<OpTracer> tracer_;     // of pass trace
  std::unique_ptr<MemoryWatch> memory_;  // of pass memory
  std::map<std::string, std::unique_ptr<PhaseRunner>> phases_;
  std::map<std::string, Array> kept_;        // staged inputs by name, memory reused from step to step
  std::vector<std::vector<Staged>> staged_;  // per step entry, per run that reads a batch of its own
  std::map<std::string, double> last_losses_;
};

}  // namespace tbd::mxnet
