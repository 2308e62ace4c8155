#include "backends/mlx/session.h"

#include <mlx/device.h>
#include <mlx/memory.h>

#include "backends/mlx/blas.h"
#include "backends/mlx/gemm.h"
#include "backends/mlx/guard.h"
#include "backends/mlx/identity.h"

namespace tbd::mlx {
namespace {

constexpr const char* kMemoryNote =
    "Weights, optimizer state, averages, running statistics and inputs are arrays of the back-end and exact. Feature "
    "maps, gradients, workspace and temporaries are one class, planned: MLX evaluates forward, backward and update at "
    "once and tells of no allocation. They are one block for each step, from its begin to its end: MLX's peak of bytes "
    "in use less what is owned. Not told are blocks that MLX has got back and keeps, and what its BLAS and the process "
    "take.";

}  // namespace

MlxSession::MlxSession() { mx::set_default_device(mx::Device::cpu); }

SessionIdentity MlxSession::identity() const { return describe_mlx(); }
std::vector<NodeSupport> MlxSession::check(const Program& program) const { return check_nodes(program); }

void MlxSession::load(const Program& program, const LoadOptions& options) {
  if (options.device != Device::kCpu)
    fail(ErrorKind::unsupported, "device '", options.device, "': this build of mlx runs on the CPU");
  if (options.layout != ImageLayout::kNhwc)
    fail(ErrorKind::unsupported, "layout '", options.layout, "': mlx runs in nhwc");
  require_one_op_at_once(options, "mlx");
  if (options.trace) fail(ErrorKind::unsupported, kNoTrace);
  for (const NodeSupport& node : check_nodes(program))
    if (node.level == NodeSupport::Level::unsupported)
      fail(ErrorKind::unsupported, node.kind, " '", node.node, "': ", node.detail);
  guarded([&] { ProgramSession::load(program, options); });
  if (!options.ledger) return;
  planned_.emplace(*options.ledger, kMemoryNote);
  for (const std::string& name : weights_->names()) planned_->owns(name, weights_->at(name).data->nbytes());
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
  if (!planned_) return;
  for (const auto& [name, value] : context_->inputs) planned_->stages(name, value.nbytes());
}

StepReport MlxSession::run_step(const StepRequest& request) {
  if (planned_) {
    planned_->begin_step(request.number);
    mx::reset_peak_memory();
  }
  const StepReport report = guarded([&] { return ProgramSession::run_step(request); });
  if (planned_) planned_->end_step(static_cast<int64_t>(mx::get_peak_memory()));
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
