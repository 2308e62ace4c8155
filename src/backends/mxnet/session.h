// The MXNet session: symbols bound once, one program, the CPU (worker/session.h).
#pragma once
#include "backends/mxnet/exchange.h"
#include "backends/mxnet/phase.h"
#include "worker/program_session.h"

namespace tbd::mxnet {

class MemoryWatch;
class OpTracer;

class MxnetSession final : public ProgramSession {
 public:
  explicit MxnetSession(JoinWorld join = join_world);
  ~MxnetSession() override;

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void stage(const TensorMap& batch) override;
  void hand_over(Trace& trace) override;
  SessionMemory memory() const override { return {}; }  // MXNet counts its pool for GPUs alone
  void reset_peak_memory() override {}
  void sum_over_ranks(std::span<double> values) override { exchange_->sum(values); }
  std::function<void()> exchange_of(DType dtype, int64_t bytes) override { return exchange_->of_bytes(dtype, bytes); }
  std::optional<double> gemm_rate(const Precision& precision, double seconds) override;

 private:
  void meet(const LoadOptions& options);
  Store& open(const Program& program, const LoadOptions& options) override;
  LoweredPhase& lower(const BoundPhase& phase) override;
  StepReport run_step(const StepRequest& request) override;

  JoinWorld join_;
  std::unique_ptr<Exchange> exchange_;  // of several ranks
  std::optional<Weights> weights_;
  std::unique_ptr<OpTracer> tracer_;     // of pass trace
  std::unique_ptr<MemoryWatch> memory_;  // of pass memory
  std::optional<SessionContext> context_;
  std::vector<std::unique_ptr<PhaseRunner>> phases_;
};

}  // namespace tbd::mxnet
