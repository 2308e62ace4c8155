// The TensorFlow session: one graph per program, made when it is loaded, run by the C API (worker/session.h).
#pragma once
#include <memory>
#include <vector>

#include "backends/tensorflow/memory_pass.h"
#include "backends/tensorflow/phase.h"
#include "worker/program_session.h"

namespace tbd::tensorflow {

class TensorFlowSession final : public ProgramSession {
 public:
  explicit TensorFlowSession(StartExchange start = start_exchange);
  ~TensorFlowSession() override;

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void stage(const TensorMap& batch) override;
  SessionMemory memory() const override { return {}; }  // the C API does not tell
  void reset_peak_memory() override {}
  void hand_over(Trace& trace) override;
  void sum_over_ranks(std::span<double> values) override { exchange_->sum(values); }
  std::function<void()> exchange_of(DType dtype, int64_t bytes) override { return exchange_->of_bytes(dtype, bytes); }
  std::optional<double> gemm_rate(const Precision& precision, double seconds) override;

 private:
  SessionSettings settings() const;
  void meet(const LoadOptions& options);
  Store& open(const Program& program, const LoadOptions& options) override;
  LoweredPhase& lower(const BoundPhase& phase) override;
  StepReport run_step(const StepRequest& request) override;

  StartExchange start_exchange_;
  std::unique_ptr<Exchange> exchange_;  // of several ranks; outlives the session whose graph it is in
  TfGraph graph_;
  std::unique_ptr<OpOrigins> origins_;  // of passes trace and memory
  std::unique_ptr<Weights> weights_;
  std::unique_ptr<SessionContext> context_;
  std::vector<std::unique_ptr<PhaseRunner>> phases_;
  std::unique_ptr<TfSession> session_;
  std::vector<RunRecord> traced_;  // since the last hand_over
  std::unique_ptr<MemoryPass> memory_pass_;
};

}  // namespace tbd::tensorflow
