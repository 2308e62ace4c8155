// The PyTorch session: eager libtorch, one program, one device (worker/session.h).
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "backends/pytorch/device_recorder.h"
#include "backends/pytorch/phase.h"
#include "worker/session.h"

namespace tbd::pytorch {

class TorchSession final : public Session {
 public:
  explicit TorchSession(bool obey_liveness = true);  // false: nothing is freed early or overwritten (tests)
  ~TorchSession() override;

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void write(const TensorMap& values) override;
  TensorMap read(const std::vector<std::string>& prefixes) override;
  void stage(const TensorMap& batch) override;
  StepReport step(const StepRequest& request) override;
  void hand_over(Trace& trace) override;
  std::string first_non_finite() override;
  SessionMemory memory() const override;
  void reset_peak_memory() override;
  std::optional<double> gemm_rate(const std::string& precision, double seconds) override;

 private:
  // The staged inputs of one run of a phase.
  struct Staged {
    TensorList inputs;          // by ValueId
    std::vector<double> norms;  // per loss term
  };
  PhaseRunner& runner(const std::string& phase);
  Staged stage_run(const StepEntry& entry, int64_t run, const TensorMap& batch);
  void run_entry(const StepEntry& entry, size_t entry_index, int64_t repeats, const StepRequest& request,
                 StepReport& report);

  bool obey_liveness_;
  Program program_;
  LoadOptions options_;
  at::Device device_ = at::kCPU;
  Layout layout_ = Layout::nchw;
  std::unique_ptr<OpRecorder> recorder_;     // of pass trace
  std::unique_ptr<DeviceRecorder> devices_;  // of pass trace on a CUDA device
  bool tracing_ = false;                     // the last step was traced, and not handed over yet
  std::unique_ptr<Weights> weights_;
  std::map<std::string, std::unique_ptr<PhaseRunner>> phases_;
  std::map<std::string, at::Tensor> on_device_;  // staged inputs by name
  std::vector<std::vector<Staged>> staged_;      // per step entry, per run that reads a batch of its own
  std::string entered_;                          // the phase whose parameters require gradients
  std::map<std::string, double> last_losses_;
};

}  // namespace tbd::pytorch
