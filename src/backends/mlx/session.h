// The MLX session: arrays that are computed when a step is evaluated, one program, the CPU (worker/session.h).
#pragma once
#include "backends/mlx/phase.h"
#include "worker/planned_memory.h"
#include "worker/program_session.h"

namespace tbd::mlx {

class MlxSession final : public ProgramSession {
 public:
  MlxSession();

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void write(const TensorMap& values) override;
  TensorMap read(const std::vector<std::string>& prefixes) override;
  void stage(const TensorMap& batch) override;
  SessionMemory memory() const override;
  void reset_peak_memory() override;
  std::optional<double> gemm_rate(const Precision& precision, double seconds) override;

 private:
  Store& open(const Program& program, const LoadOptions& options) override;
  LoweredPhase& lower(const BoundPhase& phase) override;
  StepReport run_step(const StepRequest& request) override;

  std::optional<Weights> weights_;
  std::optional<SessionContext> context_;
  std::optional<PlannedMemory> planned_;  // of pass memory
  std::vector<std::unique_ptr<PhaseRunner>> phases_;
};

}  // namespace tbd::mlx
