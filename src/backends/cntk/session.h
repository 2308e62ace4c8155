// The CNTK session: networks built once, one program, the CPU (worker/session.h).
#pragma once
#include "backends/cntk/phase.h"
#include "worker/planned_memory.h"
#include "worker/program_session.h"

namespace tbd::cntk {

class CntkSession final : public ProgramSession {
 public:
  CntkSession();  // throws Error(unsupported) where the library is another than the one that is known

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void stage(const TensorMap& batch) override;
  SessionMemory memory() const override { return {}; }  // CNTK counts no memory
  void reset_peak_memory() override {}
  std::optional<double> gemm_rate(const Precision& precision, double seconds) override;

 private:
  Store& open(const Program& program, const LoadOptions& options) override;
  LoweredPhase& lower(const BoundPhase& phase) override;
  StepReport run_step(const StepRequest& request) override;

  std::optional<Weights> weights_;
  std::optional<SessionContext> context_;
  std::vector<std::unique_ptr<PhaseRunner>> phases_;
  std::optional<PlannedMemory> planned_;  // of pass memory
  int64_t heap_before_ = 0;               // the program was loaded
};

}  // namespace tbd::cntk
