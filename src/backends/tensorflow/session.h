// The TensorFlow session: one graph per program, made when it is loaded, run by the C API (worker/session.h).
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "backends/tensorflow/memory_pass.h"
#include "backends/tensorflow/phase.h"
#include "worker/session.h"

namespace tbd::tensorflow {

class TensorFlowSession final : public Session {
 public:
  TensorFlowSession();
  ~TensorFlowSession() override;

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void write(const TensorMap& values) override;
  TensorMap read(const std::vector<std::string>& prefixes) override;
  void stage(const TensorMap& batch) override;
  StepReport step(const StepRequest& request) override;
  std::string first_non_finite() override;
  SessionMemory memory() const override { return {}; }  // the C API does not tell
  void reset_peak_memory() override {}
  void hand_over(Trace& trace) override;
  std::optional<double> gemm_rate(const std::string& precision, double seconds) override;

 private:
  using Batch = PhaseRunner::Batch;
  PhaseRunner& runner(const std::string& phase);
  Batch stage_run(const StepEntry& entry, int64_t run, const TensorMap& batch);
  void run_entry(const StepEntry& entry, size_t entry_index, int64_t repeats, const StepRequest& request,
                 StepReport& report);

  Program program_;
  LoadOptions options_;
  TfGraph graph_;
  std::unique_ptr<OpOrigins> origins_;  // of passes trace and memory
  std::unique_ptr<Weights> weights_;
  std::map<std::string, std::unique_ptr<PhaseRunner>> phases_;
  std::unique_ptr<TfSession> session_;
  std::map<std::string, std::shared_ptr<TF_Tensor>> resident_;  // staged inputs by name, type and layout
  std::vector<std::vector<Batch>> staged_;                      // per step entry, per run that reads a batch of its own
  std::map<std::string, double> last_losses_;
  std::vector<RunRecord> traced_;  // since the last hand_over
  int64_t runs_ = 0;
  std::unique_ptr<MemoryPass> memory_pass_;
};

}  // namespace tbd::tensorflow
