#include "backends/cntk/session.h"

#include "backends/cntk/abi_check.h"
#include "backends/cntk/gemm.h"
#include "backends/cntk/identity.h"
#include "measure/malloc_libraries.h"

namespace tbd::cntk {
namespace {

constexpr const char* kMemoryNote =
    "Weights, optimizer state, averages, running statistics and inputs are arrays of the back-end and exact. Feature "
    "maps, gradients, workspace and temporaries are one class, planned: CNTK shares blocks among them and tells of "
    "none. They are one block, which it keeps from step to step: what the C library's heap holds at the end of a step "
    "more than before the program was loaded, less what is owned. So what an op allocates and releases within a step "
    "is not seen, and the tables of the network are in.";

// The library's convolutions divide by zero once a process has been given more threads than at first.
void use_threads(int64_t threads) {
  static const int64_t first = threads;
  if (threads > first)
    fail(ErrorKind::unsupported, "cntk began with ", first, " threads and cannot have ", threads, " in this process");
  guarded([&] { CNTK::SetMaxNumCPUThreads(static_cast<size_t>(threads)); });
}

}  // namespace

CntkSession::CntkSession() { require_known_library(); }

SessionIdentity CntkSession::identity() const { return describe_cntk(); }
std::vector<NodeSupport> CntkSession::check(const Program& program) const { return check_nodes(program); }

void CntkSession::load(const Program& program, const LoadOptions& options) {
  if (options.device != Device::kCpu)
    fail(ErrorKind::unsupported, "device '", options.device, "': this cntk runs on the CPU alone");
  if (options.layout != ImageLayout::kNchw)
    fail(ErrorKind::unsupported, "layout '", options.layout, "': cntk runs in nchw");
  require_one_op_at_once(options, "cntk");
  if (options.trace) fail(ErrorKind::unsupported, kNoTrace);
  if (options.ledger) require_c_heap("cntk");
  for (const NodeSupport& node : check_nodes(program))
    if (node.level == NodeSupport::Level::unsupported)
      fail(ErrorKind::unsupported, node.kind, " '", node.node, "': ", node.detail);
  heap_before_ = c_heap_bytes();
  ProgramSession::load(program, options);
  if (!options.ledger) return;
  planned_.emplace(*options.ledger, kMemoryNote);
  for (const std::string& name : weights_->names()) planned_->owns(name, weights_->at(name).bytes());
}

Store& CntkSession::open(const Program& program, const LoadOptions& options) {
  use_threads(options.threads);
  guarded([&] {
    CNTK::DeviceDescriptor::TrySetDefaultDevice({}, /*exclusive=*/false);
    CNTK::Internal::SetFixedRandomSeed(options.seed % (uint64_t{1} << 31));
  });
  const CNTK::DataType type = is_double(program) ? CNTK::DataType::kDouble : CNTK::DataType::kFloat;
  weights_.emplace(program, type);
  context_.emplace(SessionContext{*weights_, type});
  return *weights_;
}

LoweredPhase& CntkSession::lower(const BoundPhase& phase) {
  return *phases_.emplace_back(std::make_unique<PhaseRunner>(phase, *context_));
}

void CntkSession::stage(const TensorMap& batch) {
  ProgramSession::stage(batch);
  if (!planned_) return;
  for (const auto& [name, array] : context_->inputs) planned_->stages(name, array.bytes());
}

StepReport CntkSession::run_step(const StepRequest& request) {
  if (planned_) planned_->begin_step(request.number);
  StepReport report = ProgramSession::run_step(request);
  if (planned_) planned_->end_step_keeping(c_heap_bytes() - heap_before_);
  return report;
}

std::optional<double> CntkSession::gemm_rate(const Precision& precision, double seconds) {
  return best_gemm_rate(precision, seconds);
}

}  // namespace tbd::cntk

namespace tbd {

std::unique_ptr<Session> make_session() { return std::make_unique<cntk::CntkSession>(); }

}  // namespace tbd
