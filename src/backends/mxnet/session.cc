#include "backends/mxnet/session.h"

#include <csignal>
#include <cstdlib>

#include "backends/mxnet/gemm.h"
#include "backends/mxnet/gpu.h"
#include "backends/mxnet/identity.h"
#include "backends/mxnet/memory_pass.h"
#include "backends/mxnet/op_trace.h"
#include "graph/expand.h"
#include "worker/gather.h"

namespace tbd::mxnet {
namespace {

// libmxnet prints a stack trace and goes on to die otherwise than by the signal; the runner reads signals.
void restore_signal_handlers() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) std::signal(signal, SIG_DFL);
}

// Before MXNet's first call of CUDA. Its precisions are without TF32, which cuBLAS and cuDNN take unless this forbids.
void choose_device(const LoadOptions& options) {
  if (options.device == Device::kCpu) return use_gpu(std::nullopt);
  const int64_t index = gpu_index(options.device);
  if (options.trace) fail(ErrorKind::unsupported, "pass trace of mxnet sees the CPU's ops alone, no kernel of a GPU");
  if (options.ledger) fail(ErrorKind::unsupported, "pass memory of mxnet sees what it plans on the CPU alone");
  if (options.device_memory_bytes) fail(ErrorKind::unsupported, "mxnet has no limit of a device's memory");
  ::setenv("NVIDIA_TF32_OVERRIDE", "0", /*overwrite=*/1);
  use_gpu(index);
}

// Before MXNet's engine starts. It begins with a thread for ops of its own, beside those inside an op.
void run_at_once(int64_t ops) { ::setenv("MXNET_CPU_WORKER_NTHREADS", cat(ops).c_str(), /*overwrite=*/1); }

}  // namespace

MxnetSession::MxnetSession(JoinWorld join) : join_(std::move(join)) {
  restore_signal_handlers();
  library_version();  // a library that cannot run says so here
}

MxnetSession::~MxnetSession() = default;

SessionIdentity MxnetSession::identity() const { return describe_mxnet(); }
std::vector<NodeSupport> MxnetSession::check(const Program& program) const { return check_nodes(program); }

void MxnetSession::load(const Program& program, const LoadOptions& options) {
  choose_device(options);
  if (options.trace && options.interop > 1)
    fail(ErrorKind::unsupported, "pass trace of mxnet tells ops apart by their order: it takes interop 1");
  run_at_once(options.interop);
  if (options.layout != ImageLayout::kNchw)
    fail(ErrorKind::unsupported, "layout '", options.layout, "': mxnet runs in nchw");
  for (const NodeSupport& node : check_nodes(program))
    if (node.level == NodeSupport::Level::unsupported)
      fail(ErrorKind::unsupported, node.kind, " '", node.node, "': ", node.detail);
  if (options.trace && !tracer_) tracer_ = std::make_unique<OpTracer>(program);
  ProgramSession::load(expanded(program), options);  // MXNet differentiates once
  if (!options.ledger) return;
  memory_ = std::make_unique<MemoryWatch>(*options.ledger);
  weights_->tell(*memory_);
  for (const auto& phase : phases_) phase->tell(*memory_);
}

void MxnetSession::meet(const LoadOptions& options) {
  if (options.device != Device::kCpu) fail(ErrorKind::unsupported, "several ranks train on processors");
  if (options.ledger)
    fail(ErrorKind::unsupported,
         "pass memory of several ranks: the buffers of mxnet's key-value store lie in the heap, of which only the sum "
         "of all that is not planned is known");
  if (options.world.wire != WireType::kSame)
    fail(ErrorKind::unsupported, "gradients travel to mxnet's key-value store in their own type, not in ",
         options.world.wire);
  require_sums_alone(options.world);
  exchange_ = join_(options.world);
  require_alike(gather_over_ranks([this](std::span<double> values) { exchange_->sum(values); }, options.world.place,
                                  rank_identity()));
}

Store& MxnetSession::open(const Program& program, const LoadOptions& options) {
  use_threads(options.threads);
  seed_generators(options.seed);
  if (options.world.place.world > 1) meet(options);
  weights_.emplace(program);
  context_.emplace(SessionContext{*weights_, tracer_.get(), exchange_.get(), options.world.sums_gradients()});
  return *weights_;
}

LoweredPhase& MxnetSession::lower(const BoundPhase& phase) {
  return *phases_.emplace_back(std::make_unique<PhaseRunner>(phase, *context_));
}

void MxnetSession::stage(const TensorMap& batch) {
  ProgramSession::stage(batch);
  if (!memory_) return;
  memory_->enter(MemoryPhase::input);
  for (const auto& [name, array] : context_->inputs) memory_->owns(array, MemoryClass::input);
}

StepReport MxnetSession::run_step(const StepRequest& request) {
  std::optional<OpTracer::Step> traced;
  if (request.traced) traced.emplace(*tracer_);
  if (memory_) memory_->begin_step(request.number);
  const StepReport report = ProgramSession::run_step(request);
  wait_for_others(exchange_.get(), wait_for_all);
  if (!memory_) return report;
  std::vector<const Executor*> ran;
  for (const auto& phase : phases_) phase->executors_run(ran);
  memory_->end_step(ran);
  return report;
}

void MxnetSession::hand_over(Trace& trace) {
  if (tracer_) tracer_->hand_over(trace);
}

std::optional<double> MxnetSession::gemm_rate(const Precision& precision, double seconds) {
  return best_gemm_rate(precision, seconds, options().device);
}

}  // namespace tbd::mxnet

namespace tbd {

std::unique_ptr<Session> make_session() { return std::make_unique<mxnet::MxnetSession>(); }

}  // namespace tbd
