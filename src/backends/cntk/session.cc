#include "backends/cntk/session.h"

#include "backends/cntk/abi_check.h"
#include "backends/cntk/gemm.h"
#include "backends/cntk/identity.h"

namespace tbd::cntk {
namespace {

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
  if (options.trace) fail(ErrorKind::unsupported, "pass trace: cntk tells averages of nodes, no instants");
  if (options.ledger) fail(ErrorKind::unsupported, "pass memory: cntk tells of no allocation");
  for (const NodeSupport& node : check_nodes(program))
    if (node.level == NodeSupport::Level::unsupported)
      fail(ErrorKind::unsupported, node.kind, " '", node.node, "': ", node.detail);
  ProgramSession::load(program, options);
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

std::optional<double> CntkSession::gemm_rate(const Precision& precision, double seconds) {
  return best_gemm_rate(precision, seconds);
}

}  // namespace tbd::cntk

namespace tbd {

std::unique_ptr<Session> make_session() { return std::make_unique<cntk::CntkSession>(); }

}  // namespace tbd
