#include "backends/mlx/session.h"

#include <mlx/device.h>
#include <mlx/memory.h>

#include "backends/mlx/blas.h"
#include "backends/mlx/gemm.h"
#include "backends/mlx/guard.h"
#include "backends/mlx/identity.h"

namespace tbd::mlx {

MlxSession::MlxSession() { mx::set_default_device(mx::Device::cpu); }

SessionIdentity MlxSession::identity() const { return describe_mlx(); }
std::vector<NodeSupport> MlxSession::check(const Program& program) const { return check_nodes(program); }

void MlxSession::load(const Program& program, const LoadOptions& options) {
  if (options.device != Device::kCpu)
    fail(ErrorKind::unsupported, "device '", options.device, "': this build of mlx runs on the CPU");
  if (options.layout != ImageLayout::kNhwc)
    fail(ErrorKind::unsupported, "layout '", options.layout, "': mlx runs in nhwc");
  require_one_op_at_once(options, "mlx");
  if (options.trace) fail(ErrorKind::unsupported, "mlx tells of no op when it runs: pass trace would see whole steps");
  for (const NodeSupport& node : check_nodes(program))
    if (node.level == NodeSupport::Level::unsupported)
      fail(ErrorKind::unsupported, node.kind, " '", node.node, "': ", node.detail);
  guarded([&] { ProgramSession::load(program, options); });
  if (!options.ledger) return;
  watch_.emplace(*options.ledger);
  watch_->owns(*weights_);
}

Store& MlxSession::open(const Program& program, const LoadOptions& options) {
  use_blas_threads(options.threads);
  weights_.emplace(program);
  context_.emplace(SessionContext{*weights_, options.seed, options.mode == Mode::kCompile});
  return *weights_;
}

LoweredPhase& MlxSession::lower(const BoundPhase& phase) {
  return *phases_.emplace_back(std::make_unique<PhaseRunner>(phase, *context_));
}

void MlxSession::write(const TensorMap& values) {
  guarded([&] { ProgramSession::write(values); });
}

TensorMap MlxSession::read(const std::vector<std::string>& prefixes) {
  return guarded([&] { return ProgramSession::read(prefixes); });
}

void MlxSession::stage(const TensorMap& batch) {
  context_->inputs.clear();
  guarded([&] { ProgramSession::stage(batch); });
  if (watch_) watch_->stages(context_->inputs);
}

StepReport MlxSession::run_step(const StepRequest& request) {
  if (watch_) watch_->begin_step(request.number);
  const StepReport report = guarded([&] { return ProgramSession::run_step(request); });
  if (watch_) watch_->end_step();
  return report;
}

SessionMemory MlxSession::memory() const {
  return {.live_bytes = static_cast<int64_t>(mx::get_active_memory()),
          .peak_bytes = static_cast<int64_t>(mx::get_peak_memory())};
}

void MlxSession::reset_peak_memory() { mx::reset_peak_memory(); }

std::optional<double> MlxSession::gemm_rate(const Precision& precision, double seconds) {
  return guarded([&] { return best_gemm_rate(precision, seconds); });
}

}  // namespace tbd::mlx

namespace tbd {

std::unique_ptr<Session> make_session() { return std::make_unique<mlx::MlxSession>(); }

}  // namespace tbd
