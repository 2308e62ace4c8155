#include "backends/tensorflow/session.h"

#include <cstdlib>

#include "backends/tensorflow/gemm.h"
#include "backends/tensorflow/gpu.h"
#include "backends/tensorflow/gradient_registry.h"
#include "backends/tensorflow/identity.h"
#include "backends/tensorflow/op_trace.h"
#include "worker/gather.h"

namespace tbd::tensorflow {
namespace {

Blocks blocks_on(const Device& device) { return device == Device::kCpu ? Blocks::of_host : Blocks::of_gpu; }

}  // namespace

// TensorFlow reads how much it shall log when it logs first.
TensorFlowSession::TensorFlowSession(StartExchange start) : start_exchange_(std::move(start)) {
  ::setenv("TF_CPP_MIN_LOG_LEVEL", "2", /*overwrite=*/0);
  tbd_register_gradients();
}
TensorFlowSession::~TensorFlowSession() = default;

SessionIdentity TensorFlowSession::identity() const { return describe_tensorflow(); }
std::vector<NodeSupport> TensorFlowSession::check(const Program& program) const { return check_nodes(program); }

void TensorFlowSession::load(const Program& program, const LoadOptions& options) {
  if (options.device != Device::kCpu) gpu_index(options.device);  // refused before a graph is built
  if (options.layout != ImageLayout::kNhwc)
    fail(ErrorKind::unsupported, "the tensorflow back-end lays images out as nhwc, not ", options.layout);
  allow_tf32(options.tf32);
  ProgramSession::load(program, options);
  session_ = std::make_unique<TfSession>(graph_, exchange_ ? exchange_->on_server(settings()) : settings());
  context_->session = session_.get();
  weights_->attach(*session_);
  if (!options.ledger) return;
  memory_pass_ =
      std::make_unique<MemoryPass>(*options.ledger, *origins_, options.mode == Mode::kXla, blocks_on(options.device));
  memory_pass_->own(weights_->owned());
}

SessionSettings TensorFlowSession::settings() const {
  SessionSettings out = {.intra_op_threads = options().threads,
                         .inter_op_threads = options().interop,
                         .xla = options().mode == Mode::kXla};
  if (options().device == Device::kCpu) return out;
  out.gpu = gpu_index(options().device);
  out.gpu_bytes = options().device_memory_bytes;
  out.trace_gpu = options().trace;
  return out;
}

void TensorFlowSession::meet(const LoadOptions& options) {
  if (options.device != Device::kCpu) fail(ErrorKind::unsupported, "several ranks train on processors");
  if (options.ledger)
    fail(ErrorKind::unsupported,
         "pass memory of several ranks: TensorFlow records what its ops allocate, and the buffers that a collective "
         "takes while it goes on are of no op");
  require_sums_alone(options.world);
  exchange_ = start_exchange_(options.world, settings());
  require_alike(gather_over_ranks([this](std::span<double> values) { exchange_->sum(values); }, options.world.place,
                                  rank_identity()));
}

Store& TensorFlowSession::open(const Program& program, const LoadOptions& options) {
  if (options.world.place.world > 1) meet(options);
  if (options.trace || options.ledger) origins_ = std::make_unique<OpOrigins>(graph_);
  weights_ = std::make_unique<Weights>(program, graph_);
  if (origins_) origins_->claim(-1, EventPhase::unknown);
  // Compiled clusters have fixed extents.
  const bool cuts_rows = options.mode != Mode::kXla;
  context_ =
      std::make_unique<SessionContext>(SessionContext{graph_, *weights_, options.seed, origins_.get(), cuts_rows,
                                                      options.world.sums_gradients() ? exchange_.get() : nullptr});
  return *weights_;
}

LoweredPhase& TensorFlowSession::lower(const BoundPhase& phase) {
  return *phases_.emplace_back(std::make_unique<PhaseRunner>(phase, *context_));
}

void TensorFlowSession::stage(const TensorMap& batch) {
  context_->inputs.clear();
  ProgramSession::stage(batch);
  if (!memory_pass_) return;
  std::vector<int64_t> bytes;
  for (const auto& [name, tensor] : context_->inputs)
    bytes.push_back(static_cast<int64_t>(TF_TensorByteSize(tensor.get())));
  memory_pass_->stage(bytes);
}

StepReport TensorFlowSession::run_step(const StepRequest& request) {
  context_->recorded = nullptr;
  if (request.traced || memory_pass_)
    context_->recorded = [this, number = request.number, traced = request.traced](RunRecord record) {
      record.on_gpu = options().device != Device::kCpu;
      if (memory_pass_) memory_pass_->add(record, number);
      if (traced) traced_.push_back(std::move(record));
    };
  return ProgramSession::run_step(request);
}

void TensorFlowSession::hand_over(Trace& trace) {
  const std::vector<std::string> nodes = node_names(program());
  for (const RunRecord& run : std::exchange(traced_, {})) append_ops(run, *origins_, nodes, trace);
}

std::optional<double> TensorFlowSession::gemm_rate(const Precision& precision, double seconds) {
  return best_gemm_rate(precision, seconds, settings());
}

}  // namespace tbd::tensorflow

namespace tbd {

std::unique_ptr<Session> make_session() { return std::make_unique<tensorflow::TensorFlowSession>(); }

}  // namespace tbd
